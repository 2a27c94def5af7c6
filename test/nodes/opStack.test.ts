/**
 * proofd follows a real op-geth, whose chain begins with a genesis file of the OP stack's registry, by its traces. The tests run in
 * this order.
 */
import assert from "node:assert/strict";
import {randomInt} from "node:crypto";
import {readFile, writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {Random} from "../../load/requests/random.ts";
import {makeProofBatch} from "../support/chains/conformanceChain.ts";
import {branchTraffic} from "../support/chains/engineTraffic.ts";
import {OpChain} from "../support/chains/opChain.ts";
import {L1_BLOCK, L1_DEPOSITOR} from "../support/chains/opDeposits.ts";
import {CREATE2_DEPLOYER, OP_CHAIN_ID} from "../support/chains/opGenesis.ts";
import {DEPOSITS, OP_FORKS, OP_TRAFFIC, PASSER, VAULTS, withdrawals} from "../support/chains/opTraffic.ts";
import {PEOPLE} from "../support/chains/people.ts";
import {machine} from "../support/chains/stateTraffic.ts";
import type {AskedService} from "../support/http/askedService.ts";
import {readTouched} from "../support/http/gethComparison.ts";
import {waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import {OwnService} from "../support/http/ownService.ts";
import {Layer1} from "../support/layer1/rollupContract.ts";
import {hasNode} from "../support/processes/nodePrograms.ts";
import {describeNeeding, notRun} from "../support/processes/notRun.ts";
import {checkStore} from "../support/stores/checkedStore.ts";

/** Of each kind, at each block. */
const CHOSEN_ACCOUNTS = 12;
const CHOSEN_SLOTS = 12;
const ALWAYS = [...VAULTS, L1_BLOCK, L1_DEPOSITOR, PASSER, CREATE2_DEPLOYER, machine, ...PEOPLE];
const BEACON_ROOTS = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02";
const BLOCK_HASHES = "0x0000f90827f1c53a10cb7a02335b175320002935";
const NO_CODE = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
/** As op-geth's source has it. */
const CREATE2_CODE = "0xb0550b5b431e30d38000efb7107aaa0ade03d48a7198a140edda9d27134468b2";
const REORGANISED = [1, 5, 8];
const REFUSED = /OP stack.*eth_estimateGas.*--gateway/;

const seed = randomInt(2 ** 31);
const random = new Random(seed, 0);

const lack = hasNode("op-geth") ? undefined : "op-geth is not installed: node dist/test/nodes/install.js";
describeNeeding(lack, "beside op-geth", () => {
  let chain: OpChain;
  let daemon: OwnService;
  let proofs = 0;
  /** Slots by account, also of replaced branches. */
  const touched = new Map<string, Set<string>>(ALWAYS.map(address => [address, new Set()]));

  before(async () => {
    chain = await OpChain.create(OP_FORKS);
    for (const plan of OP_TRAFFIC) await chain.seal(plan);
    daemon = await OwnService.serve([...flags("followed"), "--finality", "tag"]);
  });

  after(async () => {
    await daemon?.stop();
    await chain?.stop();
  });

  /** No `--source`. */
  function flags(name: string, genesisPath = chain.genesisPath): string[] {
    return ["--db", chain.file(name), "--genesis", genesisPath, "--l2", chain.node.url];
  }

  async function noteTouched(): Promise<void> {
    for (const [address, slots] of await readTouched(chain.node, chain.height))
      touched.set(address, new Set([...(touched.get(address) ?? []), ...slots]));
  }

  function choose<Value>(values: readonly Value[], count: number): Value[] {
    const chosen = Array.from({length: count}, () => values[random.below(values.length)] as Value);
    return values.length <= count ? [...values] : [...new Set(chosen)];
  }

  async function ask(url: string, body: string): Promise<string> {
    const headers = {"content-type": "application/json"};
    return (await (await fetch(url, {method: "POST", headers, body})).text()).trim();
  }

  /** All are finalized. */
  async function compareBlocks(service: AskedService): Promise<void> {
    await noteTouched();
    for (let block = 0; block <= chain.height; block++) {
      const tag = `0x${block.toString(16)}`;
      const {headerRlp} = (await service.call("chain_getHeader", [tag])).result;
      assert.equal(headerRlp, await chain.node.request("debug_getRawHeader", tag));
      const absent = `0x${random
        .below(2 ** 31)
        .toString(16)
        .padStart(40, "0")}`;
      const accounts = [...ALWAYS, absent, ...choose([...touched.keys()], CHOSEN_ACCOUNTS)];
      const params = accounts.map(address => {
        const keys = choose([...(touched.get(address) ?? [])], CHOSEN_SLOTS);
        return {address, keys: [...keys, `0x${random.below(2 ** 31).toString(16)}`]};
      });
      const body = makeProofBatch(block, params);
      const [own, theirs] = await Promise.all([service.url, chain.node.url].map(url => ask(url, body)));
      assert.ok(own === theirs, `seed ${seed}, block ${block}: ${own?.slice(0, 300)}`);
      proofs += 2 * params.length;
    }
  }

  async function waitForFinalized(service: AskedService, block: number): Promise<void> {
    await service.until(`block ${block} to be final`, async () => {
      const {result} = await service.call("chain_getCoverage");
      return result?.finalized === `0x${block.toString(16)}`;
    });
  }

  test("every header and proof is op-geth's from regolith to jovian, with the genesis file as it is", async t => {
    await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
    const why =
      /"chosen":"trace","why":"the node traces blocks \(prestate\); genesis: config\.\w+ is .*cannot be executed/;
    assert.match(daemon.stderr, why);
    await chain.finalize(chain.height);
    await waitForFinalized(daemon, chain.height);
    await compareBlocks(daemon);
    assert.ok(touched.has(BEACON_ROOTS) && touched.has(BLOCK_HASHES));
    t.diagnostic(`seed ${seed}, ${chain.height} blocks, forks ${JSON.stringify(OP_FORKS)}, ${proofs} proofs`);
  });

  test("the chain did what it was made for: deposits that fail and succeed, 100 withdrawals", async () => {
    const failing = ["withoutFunds", "mintWithoutFunds", "outOfGas"];
    for (let block = 1; block <= OP_TRAFFIC.length; block++) {
      const tag = `0x${block.toString(16)}`;
      const [{status} = assert.fail(), ...others] = await chain.node.request<{status: string}[]>(
        "eth_getBlockReceipts",
        tag,
      );
      assert.equal(status, "0x1", `layer 1's block in block ${block}`);
      if (
        OP_TRAFFIC[block - 1]?.deposits?.length !== Object.keys(DEPOSITS).length ||
        block === OP_FORKS.isthmus
      )
        continue;
      for (const [at, name] of Object.keys(DEPOSITS).entries())
        assert.equal(others[at]?.status, failing.includes(name) ? "0x0" : "0x1", `${name} in block ${block}`);
    }
    // Its nonce.
    const passed = await chain.node.request<string>("eth_getStorageAt", PASSER, "0x1", "latest");
    assert.ok(Number(BigInt(passed) & 0xffffffffn) >= 100, passed);
    assert.notEqual(await chain.node.request("eth_getCode", machine, "latest"), "0x");
  });

  test("code that canyon sets in no transaction is there from its first block on", async () => {
    const hashes = [OP_FORKS.canyon - 1, OP_FORKS.canyon].map(async block => {
      const {result} = await daemon.call("eth_getProof", [CREATE2_DEPLOYER, [], `0x${block.toString(16)}`]);
      return result.codeHash;
    });
    assert.deepEqual(await Promise.all(hashes), [NO_CODE, CREATE2_CODE]);
  });

  test("after reorganisations of 1, 5 and 8 blocks too", async t => {
    for (const [branch, depth] of REORGANISED.entries()) {
      const plans = (count: number, at: number) =>
        branchTraffic(at, count, true).map(({transactions = []}) => ({transactions}));
      for (const plan of plans(depth, 2 * branch)) await chain.seal(plan);
      await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
      await noteTouched();
      await chain.reorganise(depth, plans(depth + 1, 2 * branch + 1));
      await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
    }
    assert.equal(await daemon.readMetric("proofd_source_reorganisations_total"), REORGANISED.length);
    await chain.finalize(chain.height);
    await waitForFinalized(daemon, chain.height);
    await compareBlocks(daemon);
    t.diagnostic(`${chain.height} blocks, ${touched.size} accounts, ${proofs} proofs`);
  });

  test("with a gateway, op-geth answers what proofd lacks, and gets transactions only where that is named", async () => {
    const {node} = chain;
    const own = [...flags("forwarded"), "--finality", "tag", "--gateway", node.url];
    const sent = chain.sign({from: 1, to: PEOPLE[2] as string, value: 1n});
    const open = async (more: readonly string[], work: (service: OwnService) => Promise<void>) => {
      const service = await OwnService.serve([...own, ...more], {estimates: true});
      try {
        await waitForFinalized(service, chain.height);
        await work(service);
      } finally {
        await service.stop();
      }
    };
    await open([], async service => {
      const old = `0x${OP_FORKS.ecotone.toString(16)}`;
      const call = {from: PEOPLE[0], to: L1_BLOCK, data: "0x8381f58a"}; // number()
      const calls: [string, unknown[]][] = [
        ["eth_blockNumber", []],
        ["eth_gasPrice", []],
        ["eth_feeHistory", ["0x4", "latest", [50]]],
        ["eth_getLogs", [{fromBlock: "0x0", toBlock: "latest", address: PASSER}]],
        ["eth_estimateGas", [call]],
        ["eth_estimateGas", [{from: PEOPLE[0], to: PEOPLE[1], value: "0x1"}, old]],
        ["eth_createAccessList", [call]],
        ...["latest", "finalized", old].map((block): [string, unknown[]] => ["eth_call", [call, block]]),
        ...[old, "finalized", "latest"].flatMap((block): [string, unknown[]][] => [
          ["eth_getBalance", [PEOPLE[0], block]],
          ["eth_getTransactionCount", [PEOPLE[0], block]],
          ["eth_getCode", [L1_BLOCK, block]],
          ["eth_getStorageAt", [L1_BLOCK, "0x0", block]],
        ]),
      ];
      for (let block = 0; block <= chain.height; block += 3) {
        const tag = `0x${block.toString(16)}`;
        calls.push(
          ["eth_getBlockByNumber", [tag, true]],
          ["eth_getBlockByHash", [chain.hashOf(block), false]],
        );
        calls.push(["eth_getBlockReceipts", [tag]]);
        const {transactions} = await node.request<{transactions: string[]}>(
          "eth_getBlockByNumber",
          tag,
          false,
        );
        for (const hash of transactions.slice(0, 3))
          calls.push(["eth_getTransactionByHash", [hash]], ["eth_getTransactionReceipt", [hash]]);
      }
      for (const [method, params] of calls) {
        const body = JSON.stringify({jsonrpc: "2.0", id: 1, method, params});
        const [given, theirs] = await Promise.all([service.url, node.url].map(url => ask(url, body)));
        assert.ok(given?.includes('"result":'), given);
        assert.equal(given, theirs, `${method} ${JSON.stringify(params)}`);
      }
      assert.equal((await service.call("chain_estimateGas", [call, "latest"])).error.code, -32001);
      assert.equal((await service.call("eth_sendRawTransaction", [sent])).error.code, -32601);
    });
    await open(["--gateway-methods", "eth_sendRawTransaction"], async service => {
      const {result: hash} = await service.call("eth_sendRawTransaction", [sent]);
      const {result} = await service.call("eth_getTransactionByHash", [hash]);
      assert.deepEqual([result.from, result.blockNumber], [PEOPLE[1], null]);
    });
  });

  test("slices from the head on prove withdrawals, the attributes of layer 1 and slots of before as op-geth does", async () => {
    const start = chain.height;
    const contracts = [PASSER, L1_BLOCK];
    const url = chain.node.url;
    const own = ["--db", chain.file("slices"), "--l2", url, "--contracts", contracts.join(",")];
    await withFollower([...own, "--finality", "tag"], async sliced => {
      await waitForHash(sliced, start, chain.hashOf(start));
      for (const plan of withdrawals(200, 6, 2)) await chain.seal(plan);
      await waitForHash(sliced, chain.height, chain.hashOf(chain.height));
      await noteTouched();
      await chain.reorganise(2, withdrawals(300, 8, 2));
      await waitForHash(sliced, chain.height, chain.hashOf(chain.height));
      await chain.finalize(chain.height);
      await waitForFinalized(sliced, chain.height);
      await noteTouched();
      for (let block = start; block <= chain.height; block++) {
        const params = contracts.map(address => {
          const keys = choose([...(touched.get(address) ?? [])], 20);
          return {address, keys: [...keys, `0x${random.below(2 ** 31).toString(16)}`]};
        });
        const body = makeProofBatch(block, params);
        const [given, theirs] = await Promise.all([sliced.url, url].map(one => ask(one, body)));
        assert.ok(given === theirs, `seed ${seed}, block ${block}: ${given?.slice(0, 300)}`);
      }
    });
  });

  test("blocks are final by a contract on layer 1", async t => {
    const layer1 = await Layer1.start();
    if (typeof layer1 === "string") return notRun(t, layer1);
    try {
      const rootAt = async (block: number): Promise<Uint8Array> => {
        const tag = `0x${block.toString(16)}`;
        const {stateRoot} = await chain.node.request<{stateRoot: string}>("eth_getBlockByNumber", tag, false);
        return Buffer.from(stateRoot.slice(2), "hex");
      };
      const last = chain.height - 3;
      await layer1.finalize(1, last, await rootAt(0), await rootAt(last));
      await layer1.settle();
      const below = ["--l1", layer1.anvil.url, "--rollup", layer1.address];
      await withFollower([...flags("layer1"), ...below], other => waitForFinalized(other, last));
    } finally {
      await layer1.stop();
    }
  });

  test("no gas is estimated, whatever fork is given, and after a restart without the genesis file", async () => {
    const estimate = async (service: AskedService, block: string) => {
      const call = {from: PEOPLE[0], to: PEOPLE[1], value: "0x1"};
      return (await service.call("chain_estimateGas", [call, block])).error;
    };
    await daemon.stop();
    const [, db = ""] = flags("followed");
    for (const rules of [[], ["--hardfork", "prague"]]) {
      const restarted = ["--db", db, "--l2", chain.node.url, ...rules];
      daemon = await OwnService.serve(restarted, {estimates: true});
      for (const block of ["0x0", "0x1", "latest"]) {
        const {code, message} = await estimate(daemon, block);
        assert.equal(code, -32001);
        assert.match(message, REFUSED);
      }
      await daemon.stop();
    }
    assert.deepEqual((await checkStore(db)).found, []);
  });

  test("a genesis file without config, as the registry has many, is followed with --chain-id, and refused estimates", async () => {
    const bare = chain.file("bare.json");
    const genesis = JSON.parse(await readFile(chain.genesisPath, "utf8"));
    await writeFile(bare, JSON.stringify({...genesis, config: null}));
    const own = [...flags("bare", bare), "--chain-id", `${OP_CHAIN_ID}`, "--hardfork", "prague"];
    const other = await OwnService.serve(own, {estimates: true});
    try {
      await waitForHash(other, chain.height, chain.hashOf(chain.height));
      const {error} = await other.call("chain_estimateGas", [{to: PEOPLE[1], value: "0x1"}, "0x1"]);
      assert.equal(error.code, -32001);
      assert.match(error.message, REFUSED);
    } finally {
      await other.stop();
    }
  });
});
