"""Many submissions at once: in several processes of this machine, or on the workers of a Dask cluster."""
