"""Examples that do not fit into memory, and more sequences than one machine wants to filter: Dask."""

from kmcf.distributed.cluster import connect
from kmcf.distributed.fitting import learn_chunks
from kmcf.distributed.fleet import filter_many
from kmcf.distributed.tables import read_tables

__all__ = ["connect", "filter_many", "learn_chunks", "read_tables"]
