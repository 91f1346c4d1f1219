//! Arrow arrays of any library, through the Arrow C interface (the methods `__arrow_c_array__` and
//! `__arrow_c_stream__`).

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::error::refused;

/// Returns the chunks of an object that offers the interface; `None` if it does not.
pub(crate) fn chunks(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayRef>>> {
    if value.hasattr("__arrow_c_array__")? {
        return array(value).map(|array| Some(vec![array]));
    }
    if value.hasattr("__arrow_c_stream__")? {
        stream(value).map(Some)
    } else {
        Ok(None)
    }
}

/// Checks what is not checked where columns are made, whose layout is trusted. The texts of a column are read there
/// once, by their offsets and bytes.
fn check(data: &ArrayData) -> Result<(), ArrowError> {
    match data.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => data.validate(),
        _ => data.validate_full(),
    }
}

#[allow(unsafe_code, reason = "the Arrow C interface hands over pointers")]
fn array(value: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let py = value.py();
    let pair = value.call_method0("__arrow_c_array__")?;
    let pair = pair.cast::<PyTuple>()?;
    let schema = pair.get_item(0)?;
    let array = pair.get_item(1)?;
    let schema = schema
        .cast::<PyCapsule>()?
        .pointer_checked(Some(c_str!("arrow_schema")))?;
    let array = array
        .cast::<PyCapsule>()?
        .pointer_checked(Some(c_str!("arrow_array")))?;
    // SAFETY: The capsules have the names that the specification of the interface gives to pointers to these
    // two structures, which `pointer_checked` has compared. Whoever offers a capsule guarantees that its
    // structure is valid until the capsule is dropped, which `pair` prevents up to the end of this function.
    // `from_raw` moves the structure out and leaves a released one in its place, as the specification asks of
    // a consumer, so its buffers are freed once: by the array that is built here.
    let read = unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema.cast().as_ptr());
        let array = FFI_ArrowArray::from_raw(array.cast().as_ptr());
        from_ffi(array, &schema)
    };
    let data =
        read.map_err(|error| refused(py, format!("cannot read the Arrow array: {error}")))?;
    check(&data).map_err(|error| refused(py, format!("the Arrow array is not valid: {error}")))?;
    Ok(make_array(data))
}

#[allow(unsafe_code, reason = "the Arrow C interface hands over pointers")]
fn stream(value: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let py = value.py();
    let failed = |error: &dyn std::fmt::Display| {
        refused(py, format!("cannot read the Arrow stream: {error}"))
    };
    let capsule = value.call_method0("__arrow_c_stream__")?;
    let stream = capsule.cast::<PyCapsule>()?;
    let stream = stream.pointer_checked(Some(c_str!("arrow_array_stream")))?;
    // SAFETY: As above: the capsule has the name of pointers to this structure, is alive up to the end of this
    // function, and its structure is moved out and left released.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.cast().as_ptr()) };
    let reader = ArrayStreamReader::try_new(stream).map_err(|error| failed(&error))?;
    let mut chunks = Vec::new();
    for chunk in reader {
        let chunk = chunk.map_err(|error| failed(&error))?;
        check(&chunk.to_data()).map_err(|error| failed(&error))?;
        chunks.push(chunk);
    }
    Ok(chunks)
}
