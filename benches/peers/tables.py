"""Share of equal texts of two tables that are joined by id, by programs that read tables.

`tables.py write` writes r.csv and p.csv in the other formats, for which Rust has no small writer.
"""

import json
import os
import sys

from measure import measure

THREADS = os.environ.get("RAYON_NUM_THREADS", "1")
SIDES = {"r": "reference", "p": "prediction"}
ROWS = 131_072


def write():
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    for name in SIDES:
        text = pyarrow.csv.ConvertOptions(column_types={"id": pyarrow.string()})
        table = pyarrow.csv.read_csv(f"{name}.csv", convert_options=text).combine_chunks()
        pyarrow.parquet.write_table(
            table, f"{name}.parquet", compression="zstd", row_group_size=ROWS
        )
        with pyarrow.ipc.new_file(f"{name}.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=ROWS)
        # As Dataset.save_to_disk writes it.
        os.makedirs(name, exist_ok=True)
        shard = "data-00000-of-00001.arrow"
        with pyarrow.ipc.new_stream(f"{name}/{shard}", table.schema) as writer:
            writer.write_table(table, max_chunksize=1000)
        with open(f"{name}/dataset_info.json", "w") as file:
            json.dump({"features": {}}, file)
        with open(f"{name}/state.json", "w") as file:
            json.dump({"_data_files": [{"filename": shard}]}, file)


def pyarrow_share(form):
    def read(name):
        columns = ["id", SIDES[name]]
        if form == "csv":
            options = csv.ConvertOptions(
                include_columns=columns, column_types={"id": pyarrow.string()}
            )
            return csv.read_csv(f"{name}.csv", convert_options=options)
        if form == "parquet":
            return parquet.read_table(f"{name}.parquet", columns=columns)
        if form == "arrow":
            return feather.read_table(f"{name}.arrow", columns=columns)
        with pyarrow.memory_map(f"{name}/data-00000-of-00001.arrow") as file:
            return pyarrow.ipc.open_stream(file).read_all().select(columns)

    import pyarrow
    import pyarrow.compute
    from pyarrow import csv, feather, parquet

    pyarrow.set_cpu_count(int(THREADS))

    def work():
        both = read("r").join(read("p"), "id", join_type="inner")
        same = pyarrow.compute.equal(both["reference"], both["prediction"])
        return {"string_accuracy": pyarrow.compute.mean(same).as_py()}

    return work


def polars_share(form):
    os.environ["POLARS_MAX_THREADS"] = THREADS
    import polars

    def read(name):
        if form == "csv":
            return polars.scan_csv(f"{name}.csv", schema_overrides={"id": polars.String})
        if form == "parquet":
            return polars.scan_parquet(f"{name}.parquet")
        return polars.scan_ipc(f"{name}.arrow")

    def work():
        both = read("r").join(read("p"), on="id")
        share = (polars.col("reference") == polars.col("prediction")).mean()
        return {"string_accuracy": both.select(share).collect().item()}

    return work


def duckdb_share(form):
    import duckdb

    tables = {
        "csv": "read_csv('{}.csv', types = {{'id': 'VARCHAR'}})",
        "parquet": "read_parquet('{}.parquet')",
    }

    def work():
        connection = duckdb.connect()
        connection.execute(f"SET threads = {THREADS}")
        r, p = (tables[form].format(name) for name in SIDES)
        query = f"SELECT avg((reference = prediction)::INT) FROM {r} JOIN {p} USING (id)"
        return {"string_accuracy": connection.execute(query).fetchone()[0]}

    return work


if sys.argv[1] == "write":
    write()
else:
    shares = {"pyarrow": pyarrow_share, "polars": polars_share, "duckdb": duckdb_share}
    measure(shares[sys.argv[1]](sys.argv[2]))
