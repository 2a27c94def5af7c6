/** Which commit a build names where git is not there, as in the build of an image. */
import assert from "node:assert/strict";
import {mkdir, writeFile} from "node:fs/promises";
import {dirname, join} from "node:path";
import {test} from "node:test";
import {makeTemporaryFolder} from "../support/temporaryFolder.ts";

const {readCommit} = (await import(import.meta.resolve("#package/commit.build.js"))) as {
  readCommit(root: string): string | null;
};

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const HEAD = "ref: refs/heads/main\n";

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
  for (const [expected, files] of clones) {
    const root = makeTemporaryFolder();
    for (const [name, text] of Object.entries(files)) {
      const path = join(root, ".git", name);
      await mkdir(dirname(path), {recursive: true});
      await writeFile(path, text);
    }
    assert.equal(readCommit(root), expected, JSON.stringify(files));
  }
});
