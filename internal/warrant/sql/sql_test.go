package sql_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark/tidemark/internal/warrant/sql"
)

var reads = []string{
	"select b.name n, count(*) many from boats b left join piers p on p.id = b.pier where p.name like 'N%' group by b.name having count(*) > 1 order by many desc nulls last limit 5 offset 2",
	"select case when a > 1 then 'x' else 'y' end kind from t where day between '2026-01-01' and '2026-02-01'", "select top 10 name from boats order by name asc",
	"select * from (select a from b) x where x.a is not null union all select a from c", "with a as (select 1 n), b as (select 2 n) select * from a cross join b",
	"select cast(depth as double precision) from soundings", "explain select 1", "select distinct pier from boats fetch first 5 rows only",
	"select date '2026-01-01' d", "select a, sum(b) over (partition by c order by d rows between unbounded preceding and current row) as s from t",
	"select 1", "SELECT name, count(*) FROM boats WHERE harbour = 'Norrland' GROUP BY name ORDER BY 2 DESC LIMIT 10;",
	"with late as (select id from trips where eta > 5) select * from late join boats on boats.id = late.id",
	"select coalesce(sum(price), 0) from orders where status in ('open', 'it''s')", "show tables", "describe boats", "select b.name from boats b where b.id != 3 and (b.day::date = :day)", "explain select * from boats",
	`select "Name" from "Boats" where length("Name") > 3`, "select date_trunc('month', day), avg(depth) over (partition by pier) from soundings",
	"-- how many\n-- there are\nselect count(*) from boats", "select * from a where exists (select 1 from b where b.a = a.id) and not (x between 1 and 2)",
}

var acts = []string{
	"select 1 deny select on orders to controlling", "select name from boats dbcc checkdb", "select 1 checkpoint", "select 1 reconfigure", "select count(*) dbcc checkdb",
	"select ids.nextval from dual", "select seq . nextval from dual", "select name from boats where id = 1 dbcc checkdb", "select a from b order by a desc dbcc checkdb",
	"select a as b dbcc checkdb", "select a from b where a in (1, 2) dbcc checkdb", "select a from b limit 10 dbcc checkdb", "select a from b select c from d",
	"select a from b alter_session x y", "select 1 wipe everything now",
	"", "boats", "delete from boats", "select * into old from boats", "select 1; drop table boats", "select delete_user(7)", "select pg_terminate_backend(pid) from pg_stat_activity",
	"select setval('ids', 1)", "select pg_notify('x', string_agg(email, ',')) from users", "select set_config('row_security', 'off', false)", "select writefile('/home/u/.bashrc', 'x')",
	"select load_extension('x')", "select * from read_csv('https://drop.example')", "select * from url('https://drop.example')", "select cron.schedule('x')", "select lo_export(1, '/x')",
	"select /*! sleep(9) */ 1", "select 1 -- ; drop", "select 'a\\'; drop table boats; --'", "select $$x$$", `select "delete_user"(7)`, "select `refund`(7)", "select [refund](7)",
	"explain analyze delete from boats", "with x as (delete from boats returning *) select * from x", "select * from boats for update", "select 1 into outfile '/x'", "copy boats to program 'sh'",
	"select dele\u0301te_user(7)", "pragma writable_schema = on", "select * from openrowset('x')", "select refund_order (7)", "select evil.count(1)", "select evil . count (1)", `select "evil".sum(1)`, "select x from t where id = f(1)", "values (1)", "show tables; kill 1",
	"select 'x' || delete_user /**/ (7)", "exec xp_cmdshell 'x'", "select current_setting('x')", "do sleep(1)", "-- a remark", "--a\nselect 1",
}

func TestAStatementReadsOnlyWhereNothingElseIsKnownOfIt(t *testing.T) {
	for _, s := range reads {
		if !sql.Reads(s) {
			t.Errorf("%q does not read", s)
		}
	}
	for _, s := range acts {
		if sql.Reads(s) {
			t.Errorf("%q reads", s)
		}
	}
}

// Whatever stands behind a statement that acts, before it or in the middle of it: it still acts.
func TestPropertyNothingMakesAnActARead(t *testing.T) {
	pieces := rapid.SampledFrom([]string{" ", "select 1", "union all", "(", ")", "--", "/*", "*/", "'", `"`, ";", "where 1=1", "\n", "count(*)", "x"})
	rapid.Check(t, func(t *rapid.T) {
		call := rapid.SampledFrom([]string{"wipe(1)", "delete from boats", "pg_sleep (9)", "into old"}).Draw(t, "act")
		s := "select 1 " + strings.Join(rapid.SliceOf(pieces).Draw(t, "before"), " ") + " "
		if quoted(s) {
			return // then it is a text
		}
		s += call + " " + strings.Join(rapid.SliceOf(pieces).Draw(t, "after"), " ")
		if sql.Reads(s) {
			t.Fatalf("%q reads", s)
		}
	})
}

// quoted reports whether a quotation is open at the end of a statement.
func quoted(s string) bool {
	mark := byte(0)
	for i := range len(s) {
		switch {
		case mark == 0 && (s[i] == '\'' || s[i] == '"'):
			mark = s[i]
		case s[i] == mark:
			mark = 0
		}
	}
	return mark != 0
}

func FuzzReads(f *testing.F) {
	for _, s := range append(reads, acts...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if sql.Reads(s) && strings.Contains(strings.ToLower(s), "drop table") && !strings.ContainsAny(s, `'"`+"`") {
			t.Errorf("%q reads", s)
		}
	})
}
