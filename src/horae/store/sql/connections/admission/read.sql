-- Zero rows: no cell.
{generation_facts}
