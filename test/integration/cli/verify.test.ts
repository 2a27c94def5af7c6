/** `proofd verify` as users run it: answers of a real service, against roots given, of a trusted proofd, and of layer 1. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {verifyHeader} from "../../../client/trie/blockHeader.ts";
import {EncodedItem, encodeList} from "../../../storage/rlp/rlpWriter.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, hashOfBlock} from "../../support/chains/serviceChain.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import {Layer1} from "../../support/layer1/rollupContract.ts";
import type {CommandEnd} from "../../support/processes/commandLines.ts";
import {runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {type EthAnswer, gatherNodes, joinNodes} from "../../support/reference/ethState.ts";
import {readFixture} from "../../support/reference/fixtures.ts";

const BLOCK = `0x${FINALIZED.toString(16)}`;
const [ADDRESS] = ACCOUNTS as readonly [string];
const REQUEST = {address: ADDRESS, storageKeys: ["0x1", "0x9999"]};

let service: ProvenService;
let root: string;
/** Texts of answers. */
let single: string;
let multi: string;
/** Paths of what was asked. */
let asked: readonly string[];
let askedMulti: readonly string[];

before(async () => {
  service = await ProvenService.start();
  root = encodeHex(service.root(FINALIZED));
  const ask = async (name: string, method: string, ...params: unknown[]) => {
    const request = JSON.stringify({jsonrpc: "2.0", id: 1, method, params});
    const flags = ["--request", await service.write(name, request)];
    return [(await service.daemon.post(request)).text, flags] as const;
  };
  const entries = [REQUEST, {address: ABSENT_ACCOUNT, storageKeys: []}];
  [single, asked] = await ask("single.json", "chain_getProof", ADDRESS, REQUEST.storageKeys, BLOCK);
  [multi, askedMulti] = await ask("multi.json", "chain_getMultiProof", entries, BLOCK);
});

after(() => service.stop());

/** Verifies an answer, in a file, for the request of `single`. */
function verify(answer: string, ...args: readonly string[]): Promise<CommandEnd> {
  return verifyFor(asked, answer, ...args);
}

let files = 0;

async function verifyFor(
  flags: readonly string[],
  answer: string,
  ...args: readonly string[]
): Promise<CommandEnd> {
  const path = await service.write(`answer${files++}`, answer);
  return runHere(["verify", "--answer", path, ...flags, ...args]);
}

test("an answer from standard input is verified against a root, and each thing proved is a line", async () => {
  const args = ["verify", ...asked, "--root", root];
  const {code, stdout, stderr} = await runProofd(args, {input: single});
  assert.equal(code, 0, stdout + stderr);
  const lines = stdout.split("\n");
  assert.match(
    lines[0] as string,
    new RegExp(
      `^account ${ADDRESS} is present: nonce \\d+, balance \\d+, storageRoot 0x.{64}, codeHash 0x.{64}, keccakCodeHash`,
    ),
  );
  assert.match(lines[1] as string, /^slot 0x1 = 0x[1-9a-f][0-9a-f]*$/);
  assert.match(lines[2] as string, /^slot 0x9999 is absent: its value is 0$/);
  assert.equal(lines[3], `VERIFIED: 1 account and 2 slots under the root ${root}, given by --root`);
});

test("a forged answer, another root and another request are refused, with the place and the reason", async () => {
  const forged = JSON.parse(single);
  forged.result.storageProofs[0].proof.value = `0x${"00".repeat(31)}7f`;
  const refused = await verify(JSON.stringify(forged), "--root", root);
  assert.equal(refused.code, 1, refused.stderr);
  assert.match(refused.stdout, /^REFUSED: storageProofs\[0\]\.proof[^\n]*: [^\n]+\n$/);

  const json = await verify(single, "--root", encodeHex(service.root(FINALIZED - 1)), "--json");
  assert.equal(json.code, 1, json.stderr);
  const verdict = JSON.parse(json.stdout);
  assert.deepEqual({...verdict, rule: ""}, {verified: false, at: verdict.at, rule: ""});
  assert.match(verdict.at, /^accountProof/);

  const call = {params: [ABSENT_ACCOUNT, REQUEST.storageKeys, BLOCK]};
  const stranger = await service.write("stranger.json", JSON.stringify(call));
  const other = await verifyFor(["--request", stranger], single, "--root", root);
  assert.equal(other.code, 1, other.stderr);
  assert.match(
    other.stdout,
    new RegExp(`^REFUSED: accountProof\\.key: expected ${ABSENT_ACCOUNT}, got "0x[^"]+"\n$`),
  );
});

test("a multiproof in hex, its bytes and a batch are verified for their requests", async () => {
  const check = async (flags: readonly string[], answer: string): Promise<CommandEnd> => {
    const finished = await verifyFor(flags, answer, "--root", root, "--json");
    assert.equal(finished.code, 0, finished.stdout + finished.stderr);
    return finished;
  };
  const hex = await check(askedMulti, multi);
  const {verified, entries} = JSON.parse(hex.stdout);
  assert.equal(verified, true);
  assert.deepEqual(
    [entries[0].exists, entries[0].slots[0].exists, entries[0].slots[1]],
    [true, true, {key: "0x9999", exists: false}],
  );
  assert.deepEqual(entries[1], {address: ABSENT_ACCOUNT, exists: false, slots: []});
  const file = await service.write("proof.bin", decodeHex(JSON.parse(multi).result));
  assert.equal((await check([...askedMulti, "--answer", file], "")).stdout, hex.stdout);

  const calls = [REQUEST, {address: ABSENT_ACCOUNT, storageKeys: []}].map((entry, id) => {
    return {jsonrpc: "2.0", id, method: "chain_getMultiProof", params: [[entry], BLOCK]};
  });
  const batch = ["--request", await service.write("batch.json", JSON.stringify(calls))];
  const answers = (await service.daemon.post(JSON.stringify(calls))).text;
  assert.equal((await check(batch, answers)).stdout, hex.stdout);
});

test("the root is that of a block hash, as a proofd that is trusted says", async () => {
  const node = ["--node", service.daemon.url, "--block-hash"];
  const trusted = await verify(single, ...node, hashOfBlock(FINALIZED));
  assert.equal(trusted.code, 0, trusted.stdout + trusted.stderr);
  assert.ok(
    trusted.stdout.endsWith(
      `root ${root}, of block ${FINALIZED} (${hashOfBlock(FINALIZED)}, finalized), as ${service.daemon.url} says\n`,
    ),
    trusted.stdout,
  );
  const unknown = await verify(single, ...node, root);
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.stderr,
    /^error: no useful answer from --node: http:.* refuses chain_getStateRoot: [^\n]*\(-32001\)\n$/,
  );
});

test("the root is the one that the rollup's contract holds in layer 1's finalized block", async t => {
  const layer1 = await Layer1.start();
  if (typeof layer1 === "string") return notRun(t, layer1);
  t.after(() => layer1.stop());
  const held = (block: number) => {
    const record = ["--l1", layer1.anvil.url, "--rollup", layer1.address, "--block", String(block)];
    return verify(single, ...record);
  };
  await layer1.settle();
  await layer1.finalize(1, FINALIZED, undefined, service.root(FINALIZED));
  const early = await held(FINALIZED);
  assert.equal(early.code, 1);
  assert.match(early.stderr, /holds no state root of block 4 in layer 1's finalized block: it holds those/);
  await layer1.settle();
  const {code, stdout, stderr} = await held(FINALIZED);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /, of block 4, as the contract 0x[0-9a-f]{40} holds it on layer 1\n$/);
  assert.equal((await held(FINALIZED - 1)).code, 1, "a block between two finalizations");
  await layer1.finalizeHash(FINALIZED + 1, FINALIZED + 2, Buffer.alloc(32), Buffer.alloc(32, 0xab));
  await layer1.settle();
  assert.match((await held(FINALIZED + 2)).stderr, /it holds the block's hash. .*--block-hash 0x(ab){32}\n$/);

  // Ethereum's header has another root, and another method. So such a node is of no use to --node.
  const ethereum = await verify(single, "--node", layer1.anvil.url, "--block-hash", root);
  assert.equal(ethereum.code, 1);
  assert.match(
    ethereum.stderr,
    /--node: expected a proofd, since the header of a block has the root of Ethereum's trie/,
  );
});

/** What geth published, and the same as a proofd sends it. */
function readPublished() {
  const published = readFixture<{blockHash: string; number: number; header: string; result: EthAnswer}>(
    "published/ethProof",
  );
  const {blockHash: hash, number, header: headerRlp, result: proof} = published;
  const {stateRoot} = verifyHeader(decodeHex(hash), decodeHex(headerRlp));
  const block = {number: `0x${number.toString(16)}`, hash, stateRoot: encodeHex(stateRoot), finalized: true};
  return {...published, proofAt: {block, headerRlp, proof}, multi: joinNodes(gatherNodes([proof]))};
}

test("answers with the suite keccak are verified against a block hash of one's own or of layer 1, with a header", async t => {
  const {blockHash, number, header, result, proofAt, multi} = readPublished();
  const {address} = result;
  const ask = async (name: string, method: string, ...params: unknown[]) => [
    "--request",
    await service.write(name, JSON.stringify({jsonrpc: "2.0", id: 1, method, params})),
  ];
  const askedAt = await ask("at.json", "chain_getProofAt", address, [], "latest", "keccak");
  const entries = [{address, storageKeys: []}];
  const askedMany = await ask("many.json", "chain_getMultiProof", entries, "latest", "keccak");
  const at = JSON.stringify({result: proofAt});
  const many = JSON.stringify({result: encodeHex(multi)});
  const file = ["--header", await service.write("header", decodeHex(header))];
  const trust = ["--block-hash", blockHash];
  const stored = await ask("stored.json", "chain_getProofAt", address, [], "latest");
  const storedMany = await ask("storedMany.json", "chain_getMultiProof", entries, "latest");
  const rows: readonly (readonly [readonly string[], string, readonly string[]])[] = [
    [askedAt, at, trust],
    [askedAt, at, [...trust, ...file]],
    [askedAt, at, ["--root", proofAt.block.stateRoot]],
    [stored, at, [...trust, "--suite", "keccak"]],
    [askedMany, many, [...trust, ...file]],
    [askedMany, "", [...trust, ...file, "--answer", await service.write("many.bin", multi)]],
  ];
  for (const [asked, answer, args] of rows) {
    const {code, stdout, stderr} = await verifyFor(asked, answer, ...args);
    assert.equal(code, 0, stdout + stderr);
    assert.match(
      stdout,
      new RegExp(`^account ${address} is present: nonce 0, .*\nVERIFIED: 1 account under`),
    );
  }
  const changed = (fields: object) => JSON.stringify({result: {...proofAt, ...fields}});
  for (const [asked, answer, args, refusal] of [
    [askedMany, many, trust, /^REFUSED: answer: has no header: expected --header FILE, or --node URL/],
    [askedAt, changed({headerRlp: null}), trust, /^REFUSED: answer: has no header/],
    [
      askedAt,
      changed({headerRlp: "0x80"}),
      trust,
      /^REFUSED: header: does not hash to the trusted block hash/,
    ],
    [askedAt, changed({block: {...proofAt.block, number: "0x1"}}), trust, /^REFUSED: block.number: expected/],
    [askedMany, many.replace('"0x05', '"0x04'), [...trust, ...file], /^REFUSED: byte 0: expected 5, for a/],
    [stored, at, trust, /^REFUSED: result: is a proof of Ethereum's tries: verify it with --suite keccak/],
    [storedMany, many, [...trust, ...file], /^REFUSED: result: is a proof of Ethereum's tries: verify it/],
  ] as const) {
    const {code, stdout} = await verifyFor(asked, answer, ...args);
    assert.equal(code, 1);
    assert.match(stdout, refusal);
  }

  const layer1 = await Layer1.start();
  if (typeof layer1 === "string") return notRun(t, layer1);
  t.after(() => layer1.stop());
  await layer1.settle();
  await layer1.finalizeHash(1, number, Buffer.alloc(32), decodeHex(blockHash));
  await layer1.settle();
  const held = (block: number) => [
    "--l1",
    layer1.anvil.url,
    "--rollup",
    layer1.address,
    "--block",
    `${block}`,
  ];
  for (const args of [held(number), [...held(number), ...file]]) {
    const {code, stdout, stderr} = await verifyFor(askedAt, at, ...args);
    assert.equal(code, 0, stdout + stderr);
    assert.match(
      stdout,
      /, in the header of block 54 \(0x.{64}\), as the contract 0x.{40} holds it on layer 1\n$/,
    );
  }
  const early = await verifyFor(askedAt, at, ...held(number - 1));
  assert.match(early.stderr, /holds no hash of block 53 in layer 1's finalized block/);
  const bare = await verifyFor(askedMany, many, ...held(number));
  assert.match(bare.stderr, new RegExp(`it holds the block's hash. .*--block-hash ${blockHash}\n$`));
});

function blockWith(header: string): Uint8Array {
  return encodeList([
    new EncodedItem(decodeHex(header)),
    ...[0, 1].map(() => new EncodedItem(Buffer.of(0xc0))),
  ]);
}

test("an answer of eth_getProof is verified against the hash of its block, with the block's header", async () => {
  const {blockHash, header, result} = readPublished();
  const {address, balance, storageHash, codeHash} = result;
  const request = {jsonrpc: "2.0", id: 1, method: "eth_getProof", params: [address, [], "latest"]};
  const flags = ["--request", await service.write("eth.json", JSON.stringify(request))];
  const judged = (answer: object, file: string, hash: string, ...args: readonly string[]) =>
    verifyFor(flags, JSON.stringify({result: answer}), "--header", file, "--block-hash", hash, ...args);
  const forms = {
    "header.hex": `${header}\n`,
    "header.bin": decodeHex(header),
    // As `geth export` writes it: an older block, and this one.
    "blocks.rlp": Buffer.concat([header, header].map(blockWith)),
    "header.json": JSON.stringify({jsonrpc: "2.0", id: 1, result: header}),
  };
  const files = Object.entries(forms).map(([name, form]) => service.write(name, form));
  for (const file of await Promise.all(files)) {
    const {code, stdout, stderr} = await judged(result, file, blockHash);
    assert.equal(code, 0, stdout + stderr);
    assert.match(
      stdout,
      new RegExp(
        `^account ${address} is present: nonce 0, balance 118, storageHash ${storageHash}, codeHash ${codeHash}\n` +
          `VERIFIED: 1 account under the root 0x.{64}, in the header of block 54 .${blockHash}.\n$`,
      ),
    );
  }
  const json = await judged(result, service.path("header.hex"), blockHash, "--json");
  const {account} = JSON.parse(json.stdout).entries[0];
  assert.deepEqual(account, {nonce: "0x0", balance, storageHash, codeHash});
  for (const [answer, hash, refusal] of [
    [{...result, balance: "0x77"}, blockHash, /^REFUSED: balance: expected 0x76, got "0x77"\n$/],
    [result, root, /^REFUSED: header: does not hash to the trusted block hash\n$/],
  ] as const) {
    const {code, stdout} = await judged(answer, service.path("header.hex"), hash);
    assert.equal(code, 1);
    assert.match(stdout, refusal);
  }
  assert.match(
    (await verify(single, ...flags, "--root", root)).stdout,
    /^REFUSED: result: the field address/,
  );
});

test("a node that does not answer, and files that are not there or no request, are errors", async () => {
  const rows: (readonly [readonly string[], string, RegExp])[] = [
    // Port 0 refuses every connection.
    [["--node", "http://127.0.0.1:0", "--block-hash", root], single, /no useful answer from --node: http:/],
    [["--root", root, "--answer", service.path("none.json")], "", /cannot read the answer from .*ENOENT/],
    [
      ["--root", root, "--request", "/dev/null"],
      single,
      /cannot read the request from \/dev\/null: expected a file, got a device/,
    ],
    [
      ["--root", root, "--request", service.path("none.json")],
      single,
      /cannot read the request from .*ENOENT/,
    ],
  ];
  const mixed = ["chain_getProof", "eth_getProof"].map((method, id) => {
    return {jsonrpc: "2.0", id, method, params: [ABSENT_ACCOUNT, [], BLOCK]};
  });
  const file = await service.write("mixed.json", JSON.stringify(mixed));
  rows.push([
    ["--root", root, "--request", file],
    single,
    /expected proofs of one kind, got some of Ethereum's tries and some of the suite sha256/,
  ]);
  for (const [args, input, message] of rows) {
    const {code, stderr} = await verify(input, ...args);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
  }
});

test("flags that name no root, two roots, or nothing that is read are usage errors", async () => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /expected exactly one of --root, --block-hash alone or with --header or --node, and --l1/],
    [["--root", root, "--header", "a"], /--header has no effect without --block-hash or --l1/],
    [["--node", "http://a", "--block-hash", root, "--header", "a"], /--header has no effect with --node/],
    [["--root", root, "--block-hash", root], /expected exactly one of --root/],
    [["--root", root, "--node", "http://a"], /expected exactly one of --root/],
    [["--root", root, "--block", "1"], /--block has no effect without --l1/],
    [
      ["--root", root, "--request", "-", "--answer", "-"],
      /--request and --answer: expected a file for at least one/,
    ],
    [["--node", "http://a"], /--node needs --block-hash/],
    [["--l1", "http://a", "--block", "1"], /--l1 needs --rollup/],
  ];
  await Promise.all(
    rows.map(async ([args, message]) => {
      const {code, stderr} = await verify("", ...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }),
  );
});
