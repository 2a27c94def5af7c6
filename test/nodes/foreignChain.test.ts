/** proofd follows a foreign chain: a proxy adds fields to geth's headers, and transactions of type 0x7e. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {RLP} from "@ethereumjs/rlp";
import {keccak_256} from "@noble/hashes/sha3.js";
import {EngineChain} from "../support/chains/engineChain.ts";
import {ENGINE_FORKS, ENGINE_TRAFFIC} from "../support/chains/engineTraffic.ts";
import {waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import {type JsonRpcCall, JsonRpcServer} from "../support/nodes/jsonRpcServer.ts";
import type {RealNode} from "../support/processes/realNode.ts";

type Json = Record<string, unknown>;

/** What the proxy answers in place of what it would, or nothing. */
type Spoil = (method: string, params: readonly unknown[], result: unknown) => unknown;

const FIRST = ENGINE_FORKS.cancun;
const FORKS = {cancun: 1, prague: ENGINE_FORKS.prague - FIRST + 1, osaka: ENGINE_FORKS.osaka - FIRST + 1};
const METHOD_NOT_FOUND = -32601;
/** Of block 0, whose header is another one than the genesis file gives. */
const EXTRA_DATA = "0x0f";
const EXTRA_DATA_AT = 12;
const DEPOSIT = "0x7e";
/** Tracers leave out what this account of an OP stack gets of each fee. */
const VAULT = "0x420000000000000000000000000000000000001b";
const FORWARDER = `0x${"f0".repeat(20)}`;
/** Calls it with the value that it gets. */
const FORWARDER_CODE = `0x5f5f5f5f3473${VAULT.slice(2)}5af100`;
const DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001";

class Refusal extends Error {}

function hash(bytes: Uint8Array): string {
  return `0x${Buffer.from(keccak_256(bytes)).toString("hex")}`;
}

function depositHash(block: unknown): string {
  return hash(Buffer.from(`deposit of block ${block}`));
}

/** In front of geth. */
class ForeignNode extends JsonRpcServer {
  private readonly headers = new Map<number, Promise<Uint8Array>>();
  spoil: Spoil = (_method, _params, result) => result;

  constructor(private readonly node: RealNode) {
    super(call => this.answer(call));
  }

  async hashOf(block: number): Promise<string> {
    return hash(await this.header(block));
  }

  /** geth's header, with two more fields, after the one before here. */
  header(block: number): Promise<Uint8Array> {
    const known = this.headers.get(block);
    if (known !== undefined) return known;
    const made = this.makeHeader(block);
    this.headers.set(block, made);
    return made;
  }

  private async makeHeader(block: number): Promise<Uint8Array> {
    const raw = await this.node.request<string>("debug_getRawHeader", `0x${block.toString(16)}`);
    const bytes = Buffer.from(raw.slice(2), "hex");
    const fields = RLP.decode(bytes) as Uint8Array[];
    if (block === 0) return RLP.encode(fields.with(EXTRA_DATA_AT, Buffer.from(EXTRA_DATA.slice(2), "hex")));
    const parent = keccak_256(await this.header(block - 1));
    return RLP.encode([parent, ...fields.slice(1), 1000 + block, ["0x01", Buffer.alloc(40, block)]]);
  }

  private async answer({id, method, params}: JsonRpcCall): Promise<object> {
    try {
      const result = this.spoil(method, params, await this.change(method, params));
      return {jsonrpc: "2.0", id, result: result ?? null};
    } catch (error) {
      const code = error instanceof Refusal ? METHOD_NOT_FOUND : -32000;
      return {jsonrpc: "2.0", id, error: {code, message: (error as Error).message}};
    }
  }

  private async change(method: string, params: readonly unknown[]): Promise<unknown> {
    if (method === "debug_getRawHeader")
      return `0x${Buffer.from(await this.header(Number(params[0]))).toString("hex")}`;
    if (method === "debug_getRawBlock") throw new Refusal("the method debug_getRawBlock does not exist");
    const result = await this.node.request<Json | Json[] | null>(method, ...params);
    if (method === "debug_traceBlockByNumber") {
      const {tracerConfig} = params[1] as {tracerConfig: {diffMode?: boolean}};
      const trace = {
        txHash: depositHash(params[0]),
        result: tracerConfig.diffMode === true ? {pre: {}, post: {}} : {},
      };
      return [trace, ...(result as Json[]).map(withoutVault)];
    }
    if (method !== "eth_getBlockByNumber" || !result) return result;
    return this.changeBlock(result as Json, params[1] === true);
  }

  private async changeBlock(block: Json, isWhole: boolean): Promise<Json> {
    const number = Number(block.number);
    const own = await this.hashOf(number);
    if (number === 0) return {...block, hash: own, extraData: EXTRA_DATA};
    const parentHash = await this.hashOf(number - 1);
    const deposit = {
      ...{type: DEPOSIT, hash: depositHash(block.number), from: DEPOSITOR, to: DEPOSITOR, mint: "0x0"},
      ...{sourceHash: own, value: "0x0", gas: "0xf4240", input: "0x", isSystemTx: true},
    };
    const others = (block.transactions as (Json | string)[]).map((transaction, at) =>
      typeof transaction === "string" || at % 2 === 1 ? transaction : asDeposit(transaction),
    );
    const transactions = [isWhole ? deposit : deposit.hash, ...others];
    return {
      ...block,
      hash: own,
      parentHash,
      transactions,
      l1BlockNumber: `0x${(1000 + number).toString(16)}`,
    };
  }
}

function withoutVault(trace: Json): Json {
  const {[VAULT]: _, pre, post, ...accounts} = trace.result as Record<string, Json>;
  if (pre === undefined || post === undefined) return {...trace, result: accounts};
  delete pre[VAULT];
  delete post[VAULT];
  return {...trace, result: {pre, post}};
}

/** Without a signature, and what else such a transaction lacks. */
function asDeposit({hash: own, from, to, value, gas, input, authorizationList}: Json): Json {
  return {
    type: DEPOSIT,
    hash: own,
    from,
    to,
    value,
    gas,
    input,
    authorizationList,
    sourceHash: own,
    mint: "0x0",
  };
}

let chain: EngineChain;
let node: RealNode;
let foreign: ForeignNode;

before(async () => {
  const alloc = {
    [FORWARDER]: {balance: "0x0", code: FORWARDER_CODE},
    [VAULT]: {balance: "0x0", code: "0x00"},
  };
  chain = await EngineChain.create(FORKS, alloc);
  node = await chain.addNode();
  for (const plan of ENGINE_TRAFFIC.slice(FIRST - 1)) await chain.seal(plan);
  await chain.seal({transactions: [{to: FORWARDER, value: 7n, gas: 100_000n}]});
  foreign = new ForeignNode(node);
  await foreign.start();
});

after(async () => {
  await foreign?.stop();
  await chain?.stop();
});

function flags(name: string, url: string, source: string): readonly string[] {
  return ["--db", chain.file(`${name}.db`), "--genesis", chain.genesisPath, "--source", source, "--l2", url];
}

test("its blocks are held with their own hashes and headers, and their roots are those that execution gives", async () => {
  await chain.finalize(chain.height - 1);
  await withFollower(flags("executed", node.url, "execute"), async executed => {
    await withFollower([...flags("foreign", foreign.url, "trace"), "--finality", "tag"], async daemon => {
      await waitForHash(executed, chain.height, chain.hashOf(chain.height));
      await waitForHash(daemon, chain.height, await foreign.hashOf(chain.height));
      for (let block = 0; block <= chain.height; block++) {
        const tag = `0x${block.toString(16)}`;
        const {headerRlp} = (await daemon.call("chain_getHeader", [tag])).result;
        assert.equal(headerRlp, `0x${Buffer.from(await foreign.header(block)).toString("hex")}`);
        const [own, other] = await Promise.all(
          [daemon, executed].map(one => one.call("chain_getStateRoot", [tag])),
        );
        assert.equal(own?.result.stateRoot, other?.result.stateRoot);
      }
      const finalized = `0x${(chain.height - 1).toString(16)}`;
      await daemon.until("the finalized block", async () => {
        const {result} = await daemon.call("chain_getCoverage");
        return result.finalized === finalized && result.unverified === null;
      });
    });
  });
});

/** Follows the chain from block 0 on, until the log has this line. */
async function refuse(name: string, source: string, line: RegExp, spoil: Spoil): Promise<void> {
  foreign.spoil = spoil;
  try {
    await withFollower(flags(name, foreign.url, source), async daemon => {
      await daemon.waitForStderr(line);
    });
  } finally {
    foreign.spoil = (_method, _params, result) => result;
  }
}

test("a wrong value after a transaction of an unknown type is refused by the header's root", async () => {
  await refuse(
    "wrong",
    "trace",
    /block \d+: expected state root 0x\w+ as in its header, its changes give 0x\w+: the trace of http/,
    (method, _params, result) => (method === "eth_getBalance" ? "0x1" : result),
  );
});

test("a header is refused by name without its bytes, and where they are not what the node says", async () => {
  await refuse(
    "bare",
    "trace",
    /block \d+: the node says that its hash is 0x\w+, but its header has the hash 0x\w+. A header of another form needs --source trace and debug_getRawHeader: /,
    (method, _params, result) => {
      if (method === "debug_getRawHeader") throw new Refusal("the method debug_getRawHeader does not exist");
      return result;
    },
  );
  await refuse(
    "spoiled",
    "trace",
    /block 1: gasLimit: the raw header has \d+, but the node says 7/,
    (method, [tag], result) =>
      method === "eth_getBlockByNumber" && tag === "0x1" ? {...(result as Json), gasLimit: "0x7"} : result,
  );
});

test("by execute its transactions are refused by their type, with the source that takes them", async () => {
  await refuse(
    "execute",
    "execute",
    /block \d+: .* needs? --source trace/,
    (_method, _params, result) => result,
  );
});
