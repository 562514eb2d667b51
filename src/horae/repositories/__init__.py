"""Repositories: objects that keep state in memory on top of the statements of `horae.store`.

A function of `horae.store` runs one statement and remembers nothing. A repository remembers what it has read, and
decides from that whether a statement is needed:

- `definitions`: the versions of jobs. A version never changes, so it stays in memory until there is no room.
- `envelopes`: the data keys of tenants, unwrapped.
- `secret_book`: the values of named secrets. A look in every second reads what has changed.
- `settle`: the results of attempts. It decides about each result by the rules of `horae.domain` and writes a batch in
  one transaction. In memory it keeps only the number of late results.

Why this is correct. The rows decide; what is in memory is a hint or cannot change.

1. What cannot change is kept without a check: a version of a job, a version of a data key.
2. What can change has an age limit. A secret and a tenant's newest data key are read again after some seconds, so a
   change takes effect in every process within that time.
3. That a row is missing is never concluded from memory alone. A cell that does not answer raises, or leaves the value
   unknown; only the home cell can say that there is no such row.
4. Every memory has a bound. What was used least recently is dropped and read again when it is needed.
5. A write compares the row (see `horae.store`, 5). A repository whose memory is old finds zero rows and writes nothing.

`service`, `engine` and `upkeep` share this floor: a request and a node settle a result in the same way. Here is no SQL
text and no connection; these are in `horae.store`.
"""
