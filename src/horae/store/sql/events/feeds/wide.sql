-- For this transaction: spans of transactions are found by the summaries of pages, which only a bitmap can read.
select set_config('enable_bitmapscan', 'on', true)
