/** Which commit a build names where git is not there, as in the build of an image. */
import assert from "node:assert/strict";
import {mkdir, mkdtemp, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {after, before, test} from "node:test";

const {readCommit} = (await import(import.meta.resolve("#package/commit.build.js"))) as {
  readCommit(root: string): string | null;
};

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const HEAD = "ref: refs/heads/main\n";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-commit-"));
});
after(() => rm(folder, {recursive: true}));

test("the files that an image's build gets of a clone name its commit: a branch, loose or packed, or the commit itself", async () => {
  const clones: readonly (readonly [expected: string | null, files: Record<string, string>])[] = [
    ["01234567", {HEAD, "refs/heads/main": `${COMMIT}\n`}],
    [
      "01234567",
      {HEAD, "packed-refs": `# pack-refs\n${"f".repeat(40)} refs/heads/x\n${COMMIT} refs/heads/main\n`},
    ],
    ["01234567", {HEAD: `${COMMIT}\n`}],
    [null, {HEAD}],
    [null, {}],
  ];
  for (const [at, [expected, files]] of clones.entries()) {
    const root = join(folder, String(at));
    for (const [name, text] of Object.entries(files)) {
      const path = join(root, ".git", name);
      await mkdir(dirname(path), {recursive: true});
      await writeFile(path, text);
    }
    await mkdir(root, {recursive: true});
    assert.equal(readCommit(root), expected, JSON.stringify(files));
  }
});
