/** `proofd verify` as users run it: answers of a real service, against roots given, of a trusted proofd, and of layer 1. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {compact} from "../../../client/compact/compactProof.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, hashOfBlock} from "../../support/chains/serviceChain.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import {Layer1} from "../../support/layer1/rollupContract.ts";
import {type Finished, runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";

const BLOCK = `0x${FINALIZED.toString(16)}`;
const [ADDRESS] = ACCOUNTS as readonly [string];
const REQUEST = {address: ADDRESS, storageKeys: ["0x1", "0x9999"]};

let service: ProvenService;
let root: string;
/** Texts of answers. */
let single: string;
let multi: string;

before(async () => {
  service = await ProvenService.start();
  root = encodeHex(service.root(FINALIZED));
  const ask = async (method: string, ...params: unknown[]) =>
    (await service.daemon.post(JSON.stringify({jsonrpc: "2.0", id: 1, method, params}))).text;
  single = await ask("chain_getProof", ADDRESS, REQUEST.storageKeys, BLOCK);
  multi = await ask("chain_getMultiProof", [REQUEST, {address: ABSENT_ACCOUNT, storageKeys: []}], BLOCK);
});

after(() => service.stop());

function verify(input: string, ...args: readonly string[]): Promise<Finished> {
  return runProofd(["verify", ...args], {input});
}

test("an answer from standard input is verified against a root, and each thing proved is a line", async () => {
  const {code, stdout, stderr} = await verify(single, "--root", root);
  assert.equal(code, 0, stdout + stderr);
  const lines = stdout.split("\n");
  assert.match(
    lines[0] as string,
    new RegExp(
      `^account ${ADDRESS} is present: nonce \\d+, balance \\d+, storageRoot 0x.{64}, codeHash 0x.{64}, keccakCodeHash`,
    ),
  );
  assert.match(lines[1] as string, /^slot 0x0{63}1 = 0x[1-9a-f][0-9a-f]*$/);
  assert.match(lines[2] as string, /^slot 0x0{60}9999 is absent: its value is 0$/);
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

  const other = await verify(single, "--root", root, "--address", ABSENT_ACCOUNT);
  assert.equal(other.code, 1, other.stderr);
  assert.equal(other.stdout, `REFUSED: answer: is that for account ${ADDRESS}\n`);
});

test("a multiproof and proof bytes are verified for a request from a file or from flags", async () => {
  const request = {
    method: "chain_getMultiProof",
    params: [[REQUEST, {address: ABSENT_ACCOUNT, storageKeys: []}], BLOCK],
  };
  const path = await service.write("request.json", JSON.stringify(request));
  const many = await verify(multi, "--root", root, "--request", path, "--json");
  assert.equal(many.code, 0, many.stdout + many.stderr);
  const {verified, entries} = JSON.parse(many.stdout);
  assert.equal(verified, true);
  assert.deepEqual(
    [entries[0].exists, entries[0].slots[0].exists, entries[0].slots[1]],
    [true, true, {key: "0x9999", exists: false}],
  );
  assert.deepEqual(entries[1], {address: ABSENT_ACCOUNT, exists: false, slots: []});

  const bytes = compact(sha256Suite, REQUEST, JSON.parse(single).result);
  const file = await service.write("proof.bin", bytes);
  const flags = ["--root", root, "--answer", file, "--address", ADDRESS];
  const whole = await verify("", ...flags, "--keys", "0x1,0x9999");
  assert.equal(whole.code, 0, whole.stdout + whole.stderr);
  assert.match(whole.stdout, /^slot 0x1 = 0x/m);
  const lacking = await verify("", ...flags, "--keys", "0x1");
  assert.equal(lacking.code, 1, lacking.stderr);
  assert.match(lacking.stdout, /^REFUSED: /);
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
  try {
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

    // Ethereum's header has another root, and another method. So such a node is of no use to --node.
    const ethereum = await verify(single, "--node", layer1.anvil.url, "--block-hash", root);
    assert.equal(ethereum.code, 1);
    assert.match(
      ethereum.stderr,
      /Expected is a proofd: the header of a block has the root of Ethereum's trie/,
    );
  } finally {
    await layer1.stop();
  }
});

test("a node that does not answer, a file that is not there and bytes of slots alone are errors", async () => {
  const rows: readonly (readonly [readonly string[], string, RegExp])[] = [
    // Port 0 refuses every connection.
    [["--node", "http://127.0.0.1:0", "--block-hash", root], single, /no useful answer from --node: http:/],
    [["--root", root, "--answer", service.path("none.json")], "", /cannot read the answer from .*ENOENT/],
    [["--node", service.daemon.url, "--block-hash", root, "--keys", "0x1"], "0x0200", /--root, not --node/],
    [["--root", root, "--request", "/dev/null"], single, /cannot use --request \/dev\/null: it is not JSON/],
  ];
  for (const [args, input, message] of rows) {
    const {code, stderr} = await verify(input, ...args);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
  }
});

test("flags that name no root, two roots, or nothing that is read are usage errors", async () => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /expected exactly one of --root, --node with --block-hash, and --l1/],
    [["--root", root, "--node", "http://a"], /expected exactly one of --root/],
    [["--root", root, "--block", "1"], /--block has no effect without --l1/],
    [["--root", root, "--request", "a", "--keys", "0x1"], /--keys has no effect with --request/],
    [["--root", root, "--request", "-"], /--request and --answer are both standard input/],
    [["--root", root, "--keys", "1"], /Expected storage keys with commas between/],
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
