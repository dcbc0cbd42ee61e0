-- Lunch at :noon is a comment and no parameter.
/* So is :dinner, with a ; inside. */
\set user random(1, :users)
SELECT '08:15:59' AS clock, ':user' AS literal, "a:b", json_extract(metadata, '$."k:user"'),
       'don''t bind :user; this is text', [c:d], `e:f`
FROM (SELECT id AS "a:b", id AS [c:d], id AS `e:f`, metadata FROM orders) WHERE "a:b" = :user;
