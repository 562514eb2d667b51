-- Always a row: the rows of the page `every`, and how far it was `walked`.
select every.*, walked.walked_at, walked.walked_id
from (select) always
left join walked on true
left join every on true
