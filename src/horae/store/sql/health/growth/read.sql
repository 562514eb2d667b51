-- Zero rows: no node has measured yet.
select facts from growth
