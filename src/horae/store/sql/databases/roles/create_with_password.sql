-- The name is ours, never a caller's. The password is a SCRAM verifier: the clear one never leaves its process.
create role "{role}" login password '{verifier}'
