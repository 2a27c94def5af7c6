/** The commit of a report is that of the program's own checkout. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdirSync, mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {readCommit} from "../../../../../bench/load/report/machine.ts";

test("a folder inside of another repository, as node_modules is, has no commit of its own", t => {
  const folder = mkdtempSync(join(tmpdir(), "proofd-commit-"));
  t.after(() => rmSync(folder, {recursive: true}));
  assert.deepEqual(readCommit(folder), {commit: "unknown", isDirty: false}, "no repository");
  const git = (...args: string[]) =>
    execFileSync("git", args, {cwd: folder, stdio: "pipe", encoding: "utf8"});
  git("init");
  const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
  git(...author, "commit", "--allow-empty", "-m", "first");
  assert.deepEqual(readCommit(folder), {commit: git("rev-parse", "--short", "HEAD").trim(), isDirty: false});
  const inner = join(folder, "node_modules", "proofd");
  mkdirSync(inner, {recursive: true});
  assert.deepEqual(readCommit(inner), {commit: "unknown", isDirty: false});
});
