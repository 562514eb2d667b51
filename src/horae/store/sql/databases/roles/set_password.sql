-- The name is ours, never a caller's. The password is a SCRAM verifier: the clear one never leaves its process.
alter role "{role}" password '{verifier}'
