-- The decisions about a business key, with room for one more.
case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end
