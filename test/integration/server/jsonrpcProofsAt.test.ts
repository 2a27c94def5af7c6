/** chain_getProofAt over a real socket: the block of a proof, and the proof that chain_getProof would have given. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {ABSENT_ACCOUNT, ACCOUNTS} from "../../support/chains/serviceChain.ts";
import {type Answer, assertError} from "../../support/http/jsonrpcAnswer.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import {FINALIZED, LATEST, ProvenService} from "../../support/http/provenService.ts";
import {proofAtCall, proofCall} from "../../support/http/wireRequests.ts";
import {verifyProof} from "../../support/reference/exactProof.ts";

const ACCOUNT = ACCOUNTS[0] as string;
const KEYS = ["0x1", "0x02", "0x9"];

let service: ProvenService;
let daemon: OwnService;

before(async () => {
  service = await ProvenService.start();
  daemon = service.daemon;
});

after(() => service.stop());

interface ProofAt {
  readonly block: {
    readonly number: string;
    readonly hash: string;
    readonly stateRoot: string;
    readonly finalized: boolean;
  };
  readonly proof: unknown;
}

/** Against the root that the answer itself names. */
function verifyAt(address: string, keys: readonly string[], {result}: Answer) {
  const {block, proof} = result as ProofAt;
  return verifyProof(sha256Suite, decodeHex(block.stateRoot), address, keys, proof);
}

test("the text of an answer is that of chain_getStateRoot and that of chain_getProof, in one envelope", async () => {
  for (const [address, keys] of [
    [ACCOUNT, []],
    [ACCOUNT, KEYS],
    [ABSENT_ACCOUNT, KEYS],
  ] as const) {
    for (let block = 0; block <= FINALIZED; block++) {
      const selector = `0x${block}`;
      const textOf = async (call: unknown): Promise<string> => {
        const {status, text} = await daemon.post(JSON.stringify(call));
        assert.equal(status, 200);
        return text.slice('{"jsonrpc":"2.0","id":7,"result":'.length, -1);
      };
      const root = await textOf({jsonrpc: "2.0", id: 7, method: "chain_getStateRoot", params: [selector]});
      const proof = await textOf(proofCall(7, address, keys, selector));
      const {text} = await daemon.post(JSON.stringify(proofAtCall(7, address, keys, selector)));
      assert.equal(
        text,
        `{"jsonrpc":"2.0","id":7,"result":{"unverified":true,"block":${root},"proof":${proof}}}`,
      );
    }
  }
});

test("the root in an answer verifies the proof in it, of accounts and slots present and absent", async () => {
  const present = verifyAt(ACCOUNT, KEYS, await daemon.send(proofAtCall(1, ACCOUNT, KEYS)));
  assert.notEqual(present.account, undefined);
  assert.deepEqual(present.slots.slice(1), [0x22n, undefined]);
  const absent = verifyAt(
    ABSENT_ACCOUNT,
    ["0x1"],
    await daemon.send(proofAtCall(1, ABSENT_ACCOUNT, ["0x1"])),
  );
  assert.equal(absent.account, undefined);
  assert.deepEqual(absent.slots, [undefined]);
});

test("a batch mixes proofs with and without their block, in order, under ids of every kind", async () => {
  const ids = ["1", "9007199254740991", '""', '"\u00e9\ud83d\ude00"'];
  const textOf = (method: string, id: string, address: string, block: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":["${address}",["0x1"],"${block}"]}`;
  const calls = Array.from({length: 400}, (_, at) => ({
    method: at % 3 === 0 ? "chain_getProofAt" : "chain_getProof",
    id: ids[at % ids.length] as string,
    address: at % 5 === 4 ? ABSENT_ACCOUNT : (ACCOUNTS[at % ACCOUNTS.length] as string),
    block: at % (FINALIZED + 1),
  }));
  const texts = calls.map(({method, id, address, block}) => textOf(method, id, address, `0x${block}`));
  const {text} = await daemon.post(`[${texts.join(",")}]`);
  const singles: string[] = [];
  for (const one of texts) singles.push((await daemon.post(one)).text);
  assert.ok(text === `[${singles.join(",")}]`, "a batch is what its calls are alone");
  for (const [at, {method, id, address, block}] of calls.entries()) {
    assert.ok(singles[at]?.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`));
    const answer: Answer = JSON.parse(singles[at] as string);
    if (method === "chain_getProof") service.verify(block, address, ["0x1"], answer);
    else assert.equal((answer.result as ProofAt).block.number, `0x${block}`);
  }
});

test("what chain_getProof refuses is refused in the same words", async () => {
  const many = Array.from({length: 1025}, () => "0x1");
  const paramsList: unknown[] = [
    [],
    [ACCOUNT, []],
    [ACCOUNT, [], null],
    ["0x12", [], "latest"],
    [ACCOUNT, ["0xzz"], "latest"],
    [ACCOUNT, many, "latest"],
    [ACCOUNT, [], `0x${LATEST}`],
    [ACCOUNT, [], "0x99"],
    [ACCOUNT, [], {blockHash: `0x${"12".repeat(32)}`}],
  ];
  for (const params of paramsList) {
    const [plain, at] = [
      await daemon.call("chain_getProof", params),
      await daemon.call("chain_getProofAt", params),
    ];
    assert.notEqual(plain.error, undefined);
    assert.deepEqual(at, plain);
  }
  const named = await daemon.call("chain_getProofAt", {address: ACCOUNT});
  assertError(named, -32602);
  assert.match(
    named.error.message,
    /params of chain_getProofAt: expected the array \[address, storageKeys, block\], got an object/,
  );
});

test("it costs what chain_getProof costs, and is counted under its own name", async () => {
  const read = (method: string, code: number) =>
    daemon.readMetric(`proofd_calls_total{method="${method}",code="${code}"}`);
  const before = [await read("chain_getProof", 0), await read("chain_getProofAt", 0)];
  const answers: Answer[] = await daemon.send([
    proofCall(1),
    proofAtCall(2),
    {jsonrpc: "2.0", id: 3, method: "chain_chainId"},
    proofAtCall(4),
    proofAtCall(5, "0x12"),
  ]);
  assertError(answers[4] as Answer, -32602);
  assert.equal(await read("chain_getProof", 0), (before[0] as number) + 1);
  assert.equal(await read("chain_getProofAt", 0), (before[1] as number) + 2);
  const keys = Array.from({length: 1024}, () => "0x1");
  const refused = await read("chain_getProofAt", -32005);
  const costly = await daemon.send(Array.from({length: 20}, (_, id) => proofAtCall(id, ACCOUNT, keys)));
  assertError(costly, -32005, {limit: 20_000, got: 20_500});
  assert.equal(await read("chain_getProofAt", -32005), refused + 1);
});
