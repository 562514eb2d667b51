"""`make gate`: short forms of the benchmarks, and a verdict on each of their figures."""
