\set user 7
SELECT name FROM users WHERE id = $user OR id = @user;
