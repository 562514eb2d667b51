-- The notes about the attempts of an instance, with room for one more.
case when jsonb_array_length(l.attempts) >= 20 then l.attempts - 0 else coalesce(l.attempts, '[]') end
