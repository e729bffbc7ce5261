-- The tables of this run, for DuckDB and SQLite. DuckDB fills one with
--   COPY summary FROM 'summary.csv' (HEADER);
-- and sqlite3 with
--   .import --csv --skip 1 summary.csv summary
-- and then, as it takes an empty cell for an empty text, with the table's line at the end
-- of this file without its "-- SQLite: ".

CREATE TABLE summary (
  "run" TEXT NOT NULL,
  "seed" BIGINT NOT NULL,
  "experiment" TEXT NOT NULL,
  "entries" TEXT,
  "entries_value" DOUBLE,
  "entries_series" TEXT,
  "d" BIGINT,
  "keys" BIGINT NOT NULL,
  "scaling" TEXT NOT NULL,
  "scaling_value" DOUBLE,
  "series" TEXT NOT NULL,
  "metric" TEXT NOT NULL,
  "queries" BIGINT NOT NULL,
  "left_out" BIGINT NOT NULL,
  "estimate" DOUBLE,
  "std_error" DOUBLE,
  "ci_low" DOUBLE,
  "ci_high" DOUBLE,
  "sd" DOUBLE,
  "min" DOUBLE,
  "q05" DOUBLE,
  "median" DOUBLE,
  "q95" DOUBLE,
  "max" DOUBLE,
  "reference" DOUBLE,
  "z" DOUBLE,
  "status" TEXT NOT NULL
);

CREATE TABLE wide (
  "run" TEXT NOT NULL,
  "seed" BIGINT NOT NULL,
  "experiment" TEXT NOT NULL,
  "entries" TEXT,
  "entries_value" DOUBLE,
  "entries_series" TEXT,
  "d" BIGINT,
  "keys" BIGINT NOT NULL,
  "scaling" TEXT NOT NULL,
  "scaling_value" DOUBLE,
  "series" TEXT NOT NULL,
  "queries" BIGINT NOT NULL,
  "left_out" BIGINT NOT NULL,
  "logit_sd" DOUBLE,
  "logit_sd_se" DOUBLE,
  "logit_sd_reference" DOUBLE,
  "top_weight" DOUBLE,
  "top_weight_se" DOUBLE,
  "top_weight_reference" DOUBLE,
  "top_weight_median" DOUBLE,
  "slope" DOUBLE,
  "slope_se" DOUBLE,
  "slope_reference" DOUBLE,
  "slope_median" DOUBLE,
  "entropy" DOUBLE,
  "entropy_se" DOUBLE,
  "entropy_reference" DOUBLE,
  "entropy_median" DOUBLE
);

CREATE TABLE crossings (
  "run" TEXT NOT NULL,
  "seed" BIGINT NOT NULL,
  "experiment" TEXT NOT NULL,
  "entries" TEXT,
  "entries_value" DOUBLE,
  "entries_series" TEXT,
  "keys" BIGINT NOT NULL,
  "scaling" TEXT NOT NULL,
  "scaling_value" DOUBLE,
  "series" TEXT NOT NULL,
  "metric" TEXT NOT NULL,
  "statistic" TEXT NOT NULL,
  "level" DOUBLE NOT NULL,
  "d" DOUBLE,
  "d_std_error" DOUBLE,
  "d_exact" DOUBLE,
  "status" TEXT NOT NULL
);

CREATE TABLE contrasts (
  "run" TEXT NOT NULL,
  "seed" BIGINT NOT NULL,
  "experiment" TEXT NOT NULL,
  "entries" TEXT,
  "entries_value" DOUBLE,
  "entries_series" TEXT,
  "d" BIGINT,
  "keys" BIGINT NOT NULL,
  "metric" TEXT NOT NULL,
  "scaling" TEXT NOT NULL,
  "scaling_value" DOUBLE,
  "series" TEXT NOT NULL,
  "baseline" TEXT NOT NULL,
  "queries" BIGINT NOT NULL,
  "left_out" BIGINT NOT NULL,
  "estimate" DOUBLE,
  "std_error" DOUBLE,
  "ci_low" DOUBLE,
  "ci_high" DOUBLE
);

-- SQLite: UPDATE summary SET "entries" = nullif("entries", ''), "entries_value" = nullif("entries_value", ''), "entries_series" = nullif("entries_series", ''), "d" = nullif("d", ''), "scaling_value" = nullif("scaling_value", ''), "estimate" = nullif("estimate", ''), "std_error" = nullif("std_error", ''), "ci_low" = nullif("ci_low", ''), "ci_high" = nullif("ci_high", ''), "sd" = nullif("sd", ''), "min" = nullif("min", ''), "q05" = nullif("q05", ''), "median" = nullif("median", ''), "q95" = nullif("q95", ''), "max" = nullif("max", ''), "reference" = nullif("reference", ''), "z" = nullif("z", '');
-- SQLite: UPDATE wide SET "entries" = nullif("entries", ''), "entries_value" = nullif("entries_value", ''), "entries_series" = nullif("entries_series", ''), "d" = nullif("d", ''), "scaling_value" = nullif("scaling_value", ''), "logit_sd" = nullif("logit_sd", ''), "logit_sd_se" = nullif("logit_sd_se", ''), "logit_sd_reference" = nullif("logit_sd_reference", ''), "top_weight" = nullif("top_weight", ''), "top_weight_se" = nullif("top_weight_se", ''), "top_weight_reference" = nullif("top_weight_reference", ''), "top_weight_median" = nullif("top_weight_median", ''), "slope" = nullif("slope", ''), "slope_se" = nullif("slope_se", ''), "slope_reference" = nullif("slope_reference", ''), "slope_median" = nullif("slope_median", ''), "entropy" = nullif("entropy", ''), "entropy_se" = nullif("entropy_se", ''), "entropy_reference" = nullif("entropy_reference", ''), "entropy_median" = nullif("entropy_median", '');
-- SQLite: UPDATE crossings SET "entries" = nullif("entries", ''), "entries_value" = nullif("entries_value", ''), "entries_series" = nullif("entries_series", ''), "scaling_value" = nullif("scaling_value", ''), "d" = nullif("d", ''), "d_std_error" = nullif("d_std_error", ''), "d_exact" = nullif("d_exact", '');
-- SQLite: UPDATE contrasts SET "entries" = nullif("entries", ''), "entries_value" = nullif("entries_value", ''), "entries_series" = nullif("entries_series", ''), "d" = nullif("d", ''), "scaling_value" = nullif("scaling_value", ''), "estimate" = nullif("estimate", ''), "std_error" = nullif("std_error", ''), "ci_low" = nullif("ci_low", ''), "ci_high" = nullif("ci_high", '');
