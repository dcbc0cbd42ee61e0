\setrandom user 1 100000
SELECT name FROM users WHERE id = :user;
