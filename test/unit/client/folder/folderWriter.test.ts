/** The folder of a pull: complete ones, resumed ones, damaged ones. */
import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {FolderWriter} from "../../../../client/folder/folderWriter.ts";
import {type Manifest, readManifest} from "../../../../client/folder/manifest.ts";
import type {AskedPull} from "../../../../client/folder/manifestParts.ts";
import {PulledError, type PulledErrorCode} from "../../../../client/folder/pulledError.ts";
import {type PulledRow, readRows} from "../../../../client/folder/readRows.ts";
import {notRun} from "../../../support/processes/notRun.ts";
import {accountRow, askedOf, slotRow, treeRow} from "../../../support/pulled/pulledRows.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const root = makeTemporaryFolder();

let folders = 0;
const newFolder = () => join(root, `pull${folders++}`);

/** Some accounts, then trees of 0 to 9 slots. */
const ACCOUNTS = 40;
const TREES = 10;
const SMALL_PARTS = 1500;
const BLOCK = {number: 100, hash: `0x${"cd".repeat(32)}`, stateRoot: `0x${"ab".repeat(32)}`};
const END = {
  command: "proofd pull",
  block: BLOCK,
  accountTree: {nextFreeNode: ACCOUNTS + 2, leaves: ACCOUNTS},
  context: undefined,
};

/** Writes steps of the pull from where it is, `steps` at most. @returns the manifest, or undefined before the end */
function write(writer: FolderWriter<number>, steps = Number.POSITIVE_INFINITY): Manifest | undefined {
  let step = writer.place ?? 0;
  for (const last = step + steps; step < ACCOUNTS + TREES; step++) {
    if (step === last) return undefined;
    if (step < ACCOUNTS) writer.add("accounts", accountRow(step + 2));
    else {
      const leaves = step - ACCOUNTS;
      for (let at = 0; at < leaves; at++) writer.add("slots", slotRow(step, at));
      writer.add("trees", treeRow(step, leaves));
    }
    if (writer.isDue) writer.finishParts(step + 1);
  }
  const manifest = writer.complete(step, END);
  writer.close();
  return manifest;
}

async function resume(folder: string, asked: AskedPull = askedOf()): Promise<FolderWriter<number>> {
  const writer = await FolderWriter.resume<number>(folder, asked, SMALL_PARTS);
  assert.ok(writer instanceof FolderWriter);
  return writer;
}

function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder).sort();
  return Object.fromEntries(files.map(file => [file, readFileSync(join(folder, file), "latin1")]));
}

async function collect(folder: string): Promise<PulledRow[]> {
  const rows: PulledRow[] = [];
  for await (const row of readRows(folder)) rows.push(row);
  return rows;
}

function refusal(code: PulledErrorCode, message: RegExp): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof PulledError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  };
}

/** A folder whose pull was stopped after its first row. */
function stopped(): string {
  const folder = newFolder();
  stop(FolderWriter.create<number>(folder, askedOf(), SMALL_PARTS), 1);
  return folder;
}

/** Writes some steps, and stops in order. */
function stop(writer: FolderWriter<number>, steps: number): void {
  const begun = writer.place ?? 0;
  write(writer, steps);
  writer.keepDrafts(begun + steps);
  writer.close();
}

const whole = newFolder();
write(FolderWriter.create<number>(whole, askedOf(), SMALL_PARTS));

test("a complete folder has parts of several tables, and its rows are those that were written, tree after tree", async () => {
  const manifest = readManifest(whole);
  assert.deepEqual(manifest.rows, {accounts: ACCOUNTS, trees: TREES, slots: 45});
  assert.ok(manifest.parts.filter(({table}) => table === "accounts").length > 2);
  assert.deepEqual(
    readdirSync(whole).sort(),
    ["manifest.json", ...manifest.parts.map(({file}) => file)].sort(),
  );
  const rows = (await collect(whole)).map(row => ("row" in row ? row.row : row.tree));
  const expected = [
    END.accountTree,
    ...Array.from({length: ACCOUNTS}, (_, at) => accountRow(at + 2)),
    ...Array.from({length: TREES}, (_, leaves) => [
      treeRow(ACCOUNTS + leaves, leaves),
      ...Array.from({length: leaves}, (_, at) => slotRow(ACCOUNTS + leaves, at)),
    ]).flat(),
  ];
  assert.deepEqual(rows, expected);
});

test("a pull that ends anywhere is resumed to the same files, byte for byte", async () => {
  const expected = contents(whole);
  for (let steps = 0; steps < ACCOUNTS; steps += 13) {
    const folder = newFolder();
    const first = FolderWriter.create<number>(folder, askedOf(), SMALL_PARTS);
    // What a kill leaves: parts that are not finished, not named, or named in half a line.
    write(first, steps);
    writeFileSync(join(folder, "slots-000009.ndjson"), "not named");
    appendFileSync(join(folder, "progress.ndjson"), '{"parts":[');
    write(await resume(folder), 11);
    write(await resume(folder));
    assert.deepEqual(contents(folder), expected, `${steps} steps`);
  }
});

test("a pull that is stopped after any step, and killed while it resumes, has the same files in the end", async () => {
  const expected = contents(whole);
  for (let steps = 1; steps < ACCOUNTS + TREES - 7; steps += 4) {
    const folder = newFolder();
    stop(FolderWriter.create<number>(folder, askedOf(), SMALL_PARTS), steps);
    // A kill: what it wrote is neither finished nor named.
    write(await resume(folder), 1);
    stop(await resume(folder), 5);
    stop(await resume(folder), 1);
    write(await resume(folder));
    assert.deepEqual(contents(folder), expected, `${steps} steps`);
  }
});

test("a pull that wrote nothing leaves nothing: neither a journal nor a folder that was made for it", () => {
  const [made, empty] = [newFolder(), newFolder()];
  mkdirSync(empty);
  for (const folder of [join(made, "a/b"), empty]) FolderWriter.create<number>(folder, askedOf()).close();
  assert.deepEqual([existsSync(made), readdirSync(empty)], [false, []]);
});

test("a pull that has not begun is resumed from its beginning, in no folder and in an empty one", async () => {
  const [none, empty] = [newFolder(), newFolder()];
  mkdirSync(empty);
  for (const folder of [none, empty]) {
    write(await resume(folder));
    assert.deepEqual(contents(folder), contents(whole));
  }
});

test("a complete pull is resumed to itself, and its journal is removed", async () => {
  const journal = join(whole, "progress.ndjson");
  writeFileSync(journal, "{}\n");
  assert.deepEqual(await FolderWriter.resume(whole, askedOf()), readManifest(whole));
  assert.ok(!readdirSync(whole).includes("progress.ndjson"));
});

test("a folder with anything in it is refused without resuming, and so is a pull with other things asked for", async () => {
  const folder = stopped();
  const create = (path: string) => () => FolderWriter.create(path, askedOf());
  assert.throws(create(folder), refusal("OTHER_PULL", /not complete: --resume continues it$/));
  assert.throws(create(whole), refusal("OTHER_PULL", /has a complete pull$/));
  assert.throws(create(root), refusal("OTHER_PULL", /is not empty$/));
  for (const path of [folder, whole])
    for (const [other, message] of [
      [{block: 99}, /another block: 100, got 99$/],
      [{format: "csv"}, /another format: "ndjson", got "csv"$/],
      [{stateRoot: `0x${"00".repeat(32)}`}, /another stateRoot/],
      [{pulled: "storage", addresses: ["0x01"]}, /another pulled: "all", got "storage"$/],
    ] as const)
      await assert.rejects(
        FolderWriter.resume(path, askedOf(other as Partial<AskedPull>)),
        refusal("OTHER_PULL", message),
      );
  await assert.rejects(
    FolderWriter.resume(root, askedOf()),
    refusal("NO_PULL", /a pull to resume, got none$/),
  );
});

test("a complete pull whose part was changed is refused by a resume too", async () => {
  const folder = damaged("slots-000001.ndjson", text => text.replace("1", "2"));
  await assert.rejects(FolderWriter.resume(folder, askedOf()), refusal("DAMAGED", /slots-000001\.ndjson/));
});

test("a journal whose lines no pull writes is refused, and leads to no file outside of the folder", async () => {
  const part = {table: "accounts", rows: 1, bytes: 1, sha256: `0x${"00".repeat(32)}`};
  for (const [line, message] of [
    [
      {parts: [{...part, file: "./passwords"}]},
      /progress\.ndjson: parts\[0\]\.file: expected accounts-000001/,
    ],
    [{parts: [{...part, file: "accounts-000001.ndjson", bytes: -1}]}, /parts\[0\]\.bytes: expected a whole/],
    [{}, /parts\[0\]: expected an object/],
    [null, /parts\[0\]: expected an object/],
  ] as const) {
    const folder = stopped();
    appendFileSync(join(folder, "progress.ndjson"), `${JSON.stringify(line)}\n`);
    await assert.rejects(FolderWriter.resume(folder, askedOf()), refusal("DAMAGED", message));
  }
  const folder = stopped();
  writeFileSync(join(folder, "progress.ndjson"), '{"version":1}\n');
  await assert.rejects(
    FolderWriter.resume(folder, askedOf()),
    refusal("OTHER_PULL", /another suite: nothing/),
  );
});

test("a link in place of a file that a pull writes is removed, and what it leads to stays", async () => {
  const target = join(root, "target");
  const files = ["progress.ndjson", "accounts-000001.ndjson", "slots-000001.ndjson", "manifest.json"];
  const plant = (folder: string, names: readonly string[]) => {
    writeFileSync(target, "mine");
    for (const name of names) symlinkSync(target, join(folder, `${name}.partial`));
  };
  const folder = newFolder();
  mkdirSync(folder);
  plant(folder, ["progress.ndjson"]);
  const writer = FolderWriter.create<number>(folder, askedOf(), SMALL_PARTS);
  plant(folder, files);
  write(writer);
  assert.deepEqual(contents(folder), {...contents(whole), "progress.ndjson.partial": "mine"});
  assert.equal(readFileSync(target, "utf8"), "mine");
  // A journal that is a link is not followed either.
  const other = stopped();
  const journal = join(other, "progress.ndjson");
  renameSync(journal, target);
  symlinkSync(target, journal);
  await assert.rejects(
    FolderWriter.resume(other, askedOf()),
    refusal("FILE_FAILED", /progress\.ndjson: ELOOP/),
  );
});

test("a folder of another user is refused, since he could change what is in it", async t => {
  if (process.geteuid?.() !== 0) return notRun(t, "only root can give a folder away");
  const folder = stopped();
  const empty = newFolder();
  mkdirSync(empty);
  for (const path of [folder, empty]) chownSync(path, 4711, 4711);
  chmodSync(root, 0o755);
  process.seteuid?.(4712);
  try {
    const message = refusal("OTHER_PULL", /belongs to user 4711: expected a folder of user 4712$/);
    assert.throws(() => FolderWriter.create(empty, askedOf()), message);
    const resumed = FolderWriter.resume(folder, askedOf());
    process.seteuid?.(0);
    await assert.rejects(resumed, message);
  } finally {
    process.seteuid?.(0);
  }
});

test("a folder, pipe or device in place of a file is refused and not read", async () => {
  for (const file of ["manifest.json", "slots-000001.ndjson"]) {
    const folder = damaged("manifest.json", text => text);
    rmSync(join(folder, file));
    mkdirSync(join(folder, file));
    await assert.rejects(collect(folder), refusal("DAMAGED", new RegExp(`${file}: expected a file$`)));
  }
});

test("files that no pull makes are not removed", async () => {
  const folder = stopped();
  writeFileSync(join(folder, "notes.txt"), "mine");
  await assert.rejects(FolderWriter.resume(folder, askedOf()), refusal("OTHER_PULL", /notes\.txt$/));
  assert.ok(readdirSync(folder).includes("notes.txt"));
});

/** Damages a copy of the complete folder. */
function damaged(file: string, change: (text: string) => string): string {
  const folder = newFolder();
  cpSync(whole, folder, {recursive: true});
  const path = join(folder, file);
  writeFileSync(path, change(readFileSync(path, "latin1")), "latin1");
  return folder;
}

test("a changed byte, a missing row and a doubled part are found and named", async () => {
  const lines = [
    ["accounts-000002.ndjson", "1", "2", /accounts-000002\.ndjson: expected the sha-256/],
    ["slots-000001.ndjson", /^.*\n/, "", /slots-000001\.ndjson: expected \d+ bytes, got \d+$/],
    ["trees-000001.ndjson", /[\s\S]*/, "$&$&", /trees-000001\.ndjson: expected \d+ bytes, got more$/],
    [
      "manifest.json",
      '"accounts-000002.ndjson"',
      '"accounts-000001.ndjson"',
      /manifest\.json: parts\[1\]\.file: expected accounts-000002\.ndjson, got "accounts-000001\.ndjson"$/,
    ],
    ["manifest.json", '"accounts-000002.ndjson"', '"./passwords"', /parts\[1\]\.file/],
    ["manifest.json", '"leaves": 40', '"leaves": 41', /expected 41 rows in accounts, got 40$/],
    [
      "manifest.json",
      '"slots": 45',
      '"slots": 1000000',
      /rows: expected \{"accounts":40,"trees":10,"slots":45\}, those of the parts, got /,
    ],
    // Rows of such a table would be verified by nothing.
    [
      "manifest.json",
      '"pulled": "all"',
      '"pulled": "accounts"',
      /parts\[\d\]\.table: expected accounts, got "trees"$/,
    ],
    ["manifest.json", /...$/s, "", /manifest\.json: /],
  ] as const;
  for (const [file, from, to, message] of lines) {
    const folder = damaged(file, text => text.replace(from, to));
    await assert.rejects(collect(folder), refusal("DAMAGED", message), file);
  }
  const missing = damaged("manifest.json", text => text);
  rmSync(join(missing, "manifest.json"));
  await assert.rejects(
    collect(missing),
    refusal("NO_PULL", /there is no pull: expected manifest\.json in it$/),
  );
  const gone = damaged("manifest.json", text => text);
  rmSync(join(gone, "slots-000001.ndjson"));
  await assert.rejects(collect(gone), refusal("FILE_FAILED", /^cannot read .*slots-000001\.ndjson: ENOENT/));
});

test("a part that changed while its pull was stopped is refused", async () => {
  const folder = newFolder();
  write(FolderWriter.create<number>(folder, askedOf(), SMALL_PARTS), 20);
  appendFileSync(join(folder, "accounts-000001.ndjson"), "\n");
  await assert.rejects(FolderWriter.resume(folder, askedOf()), refusal("DAMAGED", /accounts-000001\.ndjson/));
});

test("rows out of order, doubled, or of another tree are refused, though every part is as it was written", async () => {
  const rows: readonly [string, RegExp, (writer: FolderWriter<number>) => void][] = [
    [
      "order",
      /row 2: leaf_index: expected more than 3, got 2$/,
      w => [3, 2].map(at => w.add("accounts", accountRow(at))),
    ],
    [
      "double",
      /row 2: leaf_index: expected more than 2, got 2$/,
      w => [2, 2].map(at => w.add("accounts", accountRow(at))),
    ],
    ["end", /leaf_index: expected less than 42/, w => w.add("accounts", accountRow(42))],
    ["few", /leaves: expected 3 rows in slots, got 0/, w => w.add("trees", treeRow(7, 3))],
    [
      "other",
      /account_index: expected 7, of leaf 1 of 1, got 8$/,
      w => {
        w.add("trees", treeRow(7, 1));
        w.add("slots", slotRow(8, 0));
      },
    ],
    ["more", /no more rows than the trees have leaves$/, w => w.add("slots", slotRow(8, 0))],
    [
      "zero",
      /value: expected one above zero/,
      w => {
        w.add("trees", treeRow(7, 1));
        w.add("slots", {...slotRow(7, 0), value: 0n});
      },
    ],
    [
      "trees",
      /account_index: expected more than 7, got 7$/,
      w => [7, 7].map(at => w.add("trees", treeRow(at, 0))),
    ],
  ];
  for (const [name, message, add] of rows) {
    const folder = newFolder();
    const writer = FolderWriter.create<number>(folder, askedOf());
    add(writer);
    const leaves = writer.complete(0, END).rows.accounts ?? 0;
    writer.close();
    const path = join(folder, "manifest.json");
    writeFileSync(path, readFileSync(path, "utf8").replace('"leaves": 40', `"leaves": ${leaves}`));
    await assert.rejects(collect(folder), refusal("DAMAGED", message), name);
  }
});
