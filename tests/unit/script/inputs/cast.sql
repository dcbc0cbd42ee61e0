\set user random(1, :users)
SELECT name FROM users WHERE id = :user::BIGINT;
