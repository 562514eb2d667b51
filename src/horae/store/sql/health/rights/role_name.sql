-- The role of this connection.
select current_user::text
