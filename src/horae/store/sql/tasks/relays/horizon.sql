-- Every transaction below this has ended: what it wrote is seen, or never will be.
select txid_snapshot_xmin(txid_current_snapshot())
