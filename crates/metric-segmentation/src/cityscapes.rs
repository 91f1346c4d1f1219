//! The label ids of Cityscapes, as cityscapesScripts 2.3.0 has them.

/// The names of the label ids.
pub(crate) const NAMES: [&str; 34] = [
    "unlabeled",
    "ego vehicle",
    "rectification border",
    "out of roi",
    "static",
    "dynamic",
    "ground",
    "road",
    "sidewalk",
    "parking",
    "rail track",
    "building",
    "wall",
    "fence",
    "guard rail",
    "bridge",
    "tunnel",
    "pole",
    "polegroup",
    "traffic light",
    "traffic sign",
    "vegetation",
    "terrain",
    "sky",
    "person",
    "rider",
    "car",
    "truck",
    "bus",
    "caravan",
    "trailer",
    "train",
    "motorcycle",
    "bicycle",
];

/// The categories with the label ids that count, in the order in which they are averaged.
pub(crate) const CATEGORIES: [(&str, &[u32]); 7] = [
    ("flat", &[7, 8]),
    ("construction", &[11, 12, 13]),
    ("object", &[17, 19, 20]),
    ("nature", &[21, 22]),
    ("sky", &[23]),
    ("human", &[24, 25]),
    ("vehicle", &[26, 27, 28, 31, 32, 33]),
];

/// The label ids that count.
pub(crate) fn counted() -> impl Iterator<Item = u32> {
    // They are ordered within and across the categories.
    CATEGORIES.iter().flat_map(|(_, ids)| ids.iter().copied())
}

/// Whether a label id counts.
pub(crate) fn is_counted(id: u32) -> bool {
    counted().any(|counted| counted == id)
}
