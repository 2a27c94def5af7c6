/** examples/python against a running proofd, and answers of eth_getProof: what it says is what the client says. */
import assert from "node:assert/strict";
import {execFile} from "node:child_process";
import {after, before, type TestContext, test} from "node:test";
import {promisify} from "node:util";
import {type AccountLeaf, createProofClient, encodeHex, sha256Suite} from "../../../client/client.ts";
import {ABSENT_ACCOUNT, ACCOUNTS} from "../../support/chains/serviceChain.ts";
import {type ForeignCall, ForeignServer, sendJson} from "../../support/http/foreignServer.ts";
import {ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {FINALIZED, ProvenService} from "../../support/http/provenService.ts";
import {findProgram} from "../../support/processes/foundProgram.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {type EthAnswer, EthState, NEAR_SLOTS} from "../../support/reference/ethState.ts";

const PROGRAM = "examples/python/pull.py";
const ETH_PROGRAM = "examples/python/eth_proof.py";

const run = promisify(execFile);
const hasPython = findProgram("python3") !== undefined;

let service: ProvenService;
let proxy: ForwardingProxy;
before(async () => {
  service = await ProvenService.start();
  proxy = await ForwardingProxy.to(service.daemon.url);
});
after(async () => {
  await proxy.stop();
  await service.stop();
});

function testPython(title: string, work: () => Promise<void>): void {
  test(title, async (t: TestContext) => (hasPython ? work() : notRun(t, "there is no python3")));
}

async function pull(url: string, ...args: readonly string[]): Promise<Record<string, unknown>[]> {
  const root = encodeHex(service.root(FINALIZED));
  const {stdout} = await run("python3", [PROGRAM, url, `${FINALIZED}`, root, ...args]);
  return stdout
    .trim()
    .split("\n")
    .map(line => JSON.parse(line));
}

function createClient() {
  const trustedRoot = service.root(FINALIZED);
  return createProofClient({url: service.daemon.url, suite: sha256Suite, trustedRoot});
}

/** As the example writes an account. */
function shown({nonce, balance, codeSize, storageRoot}: AccountLeaf["account"]): unknown {
  return {nonce: Number(nonce), balance: Number(balance), codeSize: Number(codeSize), storageRoot};
}

testPython("accounts, present and absent, are those of the client", async () => {
  const addresses = [...ACCOUNTS.slice(0, 7), ABSENT_ACCOUNT, `0x${"00".repeat(20)}`, `0x${"ff".repeat(20)}`];
  const entries = addresses.map(address => ({address, storageKeys: []}));
  const proven = await createClient().getMultiProof({entries, block: FINALIZED});
  assert.deepEqual(
    await pull(service.daemon.url, "accounts", ...addresses),
    proven.entries.map(({account}, i) => ({
      address: addresses[i],
      account: account === undefined ? null : shown(account),
    })),
  );
});

testPython(
  "slots, set and empty, are those of the client, also of an account that does not exist",
  async () => {
    for (const address of [ACCOUNTS[0] as string, ABSENT_ACCOUNT]) {
      const storageKeys = ["0x1", "0x9", "0x1", "0xffff"];
      const {entries} = await createClient().getMultiProof({
        entries: [{address, storageKeys}],
        block: FINALIZED,
      });
      const [{account, slots}] = entries as [(typeof entries)[number]];
      assert.deepEqual(await pull(service.daemon.url, "slots", address, ...storageKeys), [
        {address, account: account === undefined ? null : shown(account)},
        ...slots.map((value, i) => ({slot: storageKeys[i], value: `0x${(value ?? 0n).toString(16)}`})),
      ]);
    }
  },
);

testPython("changes between two blocks are those of the client", async () => {
  for (let earlier = 0; earlier < FINALIZED; earlier++) {
    const roots = new Map([earlier, FINALIZED].map(block => [BigInt(block), service.root(block)]));
    const client = createProofClient({
      url: service.daemon.url,
      suite: sha256Suite,
      trustedRoot: number => roots.get(number) ?? assert.fail(`${number}`),
    });
    const {accounts} = await client.getChanges({
      tree: "accounts",
      fromBlock: BigInt(earlier),
      toBlock: BigInt(FINALIZED),
    });
    assert.ok(accounts.length > 0);
    const sideOf = (leaf: (typeof accounts)[number]["before"]) =>
      leaf?.role === "account" ? {address: leaf.address, ...(shown(leaf.account) as object)} : null;
    const lines = await pull(service.daemon.url, "changes", `${earlier}`, encodeHex(service.root(earlier)));
    assert.deepEqual(
      lines,
      accounts
        // Head and tail have no account.
        .filter(({leafIndex}) => leafIndex > 1)
        .map(({leafIndex, before, after}) => ({
          leafIndex,
          before: sideOf(before),
          after: sideOf(after),
        })),
    );
  }
});

testPython("ranges are those of the client", async () => {
  for (const [from, count] of [
    [0, 4096],
    [1, 3],
    [7, 22],
    [41, 1],
  ] as const) {
    const {leaves, nextFreeNode} = await createClient().getLeaves({
      tree: "accounts",
      from,
      count,
      block: FINALIZED,
    });
    const expected = leaves.map(leaf => {
      const {leafIndex} = leaf;
      if (leaf.role !== "account") return {leafIndex};
      const {address, account} = leaf;
      return {leafIndex, address, ...(shown(account) as object)};
    });
    const lines = await pull(service.daemon.url, "range", `${from}`, `${count}`);
    assert.deepEqual(lines, [...expected, {nextFreeNode}]);
  }
});

testPython("every changed byte of a proof is refused with exit code 1 and a reason", async () => {
  const changed =
    (at: number): ForwardingProxy["change"] =>
    async (_, forward) => {
      const {status, type, body} = await forward();
      const answer = JSON.parse(body.toString());
      const bytes = Buffer.from(answer.result.slice(2), "hex");
      const place = Math.floor((at * (bytes.length - 1)) / 4);
      bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
      const result = `0x${bytes.toString("hex")}`;
      return {status, type, body: Buffer.from(JSON.stringify({...answer, result}))};
    };
  const account = ACCOUNTS[0] as string;
  const asked: readonly (readonly [args: readonly string[], parts: readonly number[]])[] = [
    [
      ["accounts", account],
      [0, 1, 2, 4],
    ],
    [
      ["slots", account, "0x1", "0x9", "0xffff"],
      [1, 2, 3, 4],
    ],
    // Blocks' numbers and hashes, which nothing proves, are at the beginning.
    [["range", "5", "20"], [3]],
    [
      ["changes", "0", encodeHex(service.root(0))],
      [2, 3, 4],
    ],
  ];
  for (const [args, at] of asked.flatMap(([args, parts]) => parts.map(at => [args, at] as const))) {
    proxy.change = changed(at);
    await assert.rejects(
      pull(proxy.url.href, ...args),
      {code: 1, stderr: /^pull\.py: .+\n$/},
      `${args[0]}, part ${at}`,
    );
  }
});

testPython("a server's error and a server that is away are named", async () => {
  const fails = (url: string, stderr: RegExp) =>
    assert.rejects(pull(url, "range", "999", "5"), {code: 1, stderr});
  await fails(service.daemon.url, /^pull\.py: chain_getLeaves: .*fromIndex/);
  await fails("http://127.0.0.1:1", /^pull\.py: .*refused/);
});

testPython("answers of eth_getProof prove what they say, and changed nodes are refused", async () => {
  const [present = "", absent = ""] = ["11", "22"].map(digits => `0x${digits.repeat(20)}`);
  const slots = new Map([1n, 2n, ...NEAR_SLOTS].map(slot => [slot, slot % 100n]));
  const state = await EthState.create(
    new Map(
      [present, `0x${"33".repeat(20)}`].map(address => [address, {nonce: 3n, balance: 10n ** 20n, slots}]),
    ),
  );
  let change = (answer: EthAnswer): object => answer;
  const server = await ForeignServer.start(async (response, body) => {
    const {id, params} = body as ForeignCall;
    const [address, keys] = params as [string, string[]];
    sendJson(response, {jsonrpc: "2.0", id, result: change(await state.prove(address, keys))});
  });
  const ask = async (...args: readonly string[]) => {
    const {stdout} = await run("python3", [
      ETH_PROGRAM,
      server.url.origin,
      "5",
      encodeHex(state.root),
      ...args,
    ]);
    return stdout
      .trim()
      .split("\n")
      .map(line => JSON.parse(line));
  };
  try {
    const keys = ["0x1", `${NEAR_SLOTS[0]}`, "7"];
    const {storageHash, codeHash} = await state.prove(present, []);
    // Numbers of JSON.parse are not exact, and 10^20 is one that is.
    assert.deepEqual(await ask(present, ...keys), [
      {address: present, account: {nonce: 3, balance: 1e20, storageHash, codeHash}},
      ...["0x1", "0x40", "0x0"].map((value, i) => ({slot: keys[i], value})),
    ]);
    assert.deepEqual(await ask(absent, "1"), [
      {address: absent, account: null},
      {slot: "1", value: "0x0"},
    ]);
    const changes: readonly ((answer: EthAnswer) => object)[] = [
      ({accountProof, ...answer}) => ({...answer, accountProof: accountProof.slice(0, -1)}),
      ({accountProof, ...answer}) => ({...answer, accountProof: [...accountProof, accountProof[0]]}),
      answer => JSON.parse(JSON.stringify(answer).replace(/80(?="\])/, "81")),
    ];
    for (const [i, made] of changes.entries()) {
      change = made;
      await assert.rejects(ask(present, ...keys), {code: 1, stderr: /^eth_proof\.py: .+\n$/}, `change ${i}`);
    }
  } finally {
    await server.stop();
  }
});
