/**
 * A chain of a real geth with the accounts of the bench, and the store of a proofd that has followed it by traces.
 *
 *   bench-data/geth-N-M-v3/genesis.json   N accounts; the first ones have the slots of peerStore.ts, and the token
 *                         /data           geth's archive by hash: M blocks of 350 leaf writes of the state trie
 *                         /db-v2          proofd's
 */
import {spawn, spawnSync} from "node:child_process";
import {createHmac} from "node:crypto";
import {once} from "node:events";
import {existsSync, mkdirSync, renameSync, rmSync, writeFileSync} from "node:fs";
import {homedir} from "node:os";
import {join} from "node:path";
import * as Secp256k1 from "ox/Secp256k1";
import * as TxEnvelopeEip1559 from "ox/TxEnvelopeEip1559";
import {encodeHex, quantity} from "../../client/bytes/hex.ts";
import {word} from "../../client/hash/hashSuites.ts";
import {configOfFork} from "../../evm/execution/forks.ts";
import {BENCH_FOLDER} from "../program/runFile.ts";
import {PROOFD, readChildrenCpuMs, type ServerProcess, startServer} from "../program/serverProcess.ts";
import {makeBlock, TRIE_CHANGES} from "../stages/benchChain.ts";
import {makeAlloc} from "./peerStore.ts";

/** The version that test/nodes/install.ts installs. */
export const GETH_VERSION = "v1.17.10";
const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
export const GETH_FOLDER: string = join(CACHE, "proofd", `geth-${GETH_VERSION}`);

const CHAIN_ID = 424_242;
const KEY = `0x${"07".repeat(32)}` as const;
const SENDER = "0x4a62316623ad457f02cdc5d997ded67a383ec569";
const PAYER = `0x${"9a".repeat(20)}` as const;
/** Pays one wei to each address of its calldata. */
const PAYER_CODE = "0x5f5b80361115601a575f5f5f5f600185355af1506020016001565b00";
const PAID_AT_ONCE = 7;
const GAS = 300_000n;
const GAS_PRICE = 1_000_000_000n;
const GENESIS_SECONDS = 1_700_000_000;
const SECRET = Buffer.alloc(32, 7);
/** The first endpoint is public, the second is the engine API, which requires the secret. */
const LISTENING = /(?=[\s\S]*endpoint=(\S+) auth=false)(?=[\s\S]*endpoint=(\S+) auth=true)/;

/** @returns the path of geth in PATH, else of the one that test/nodes/install.ts installs, if there is one */
export function findGeth(): string | undefined {
  return [...(process.env.PATH ?? "").split(":"), GETH_FOLDER]
    .map(folder => join(folder, "geth"))
    .find(existsSync);
}

export class GethChain {
  private constructor(
    private readonly geth: string,
    private readonly folder: string,
  ) {}

  static async openOrCreate(geth: string, accounts: number, blocks: number): Promise<GethChain> {
    const folder = join(BENCH_FOLDER, `geth-${accounts}-${blocks}-v3`);
    if (existsSync(folder)) return new GethChain(geth, folder);
    const unfinished = new GethChain(geth, `${folder}.unfinished`);
    rmSync(unfinished.folder, {recursive: true, force: true});
    mkdirSync(unfinished.folder, {recursive: true});
    unfinished.init(accounts);
    const server = await unfinished.start();
    try {
      await build(server, accounts, blocks);
    } finally {
      await server.stop();
    }
    renameSync(unfinished.folder, folder);
    return new GethChain(geth, folder);
  }

  get store(): string {
    return join(this.folder, "db-v2");
  }

  private get unfinished(): string {
    return `${this.store}.unfinished`;
  }

  start(): Promise<ServerProcess> {
    const plain =
      "--gcmode archive --syncmode full --port 0 --nodiscover --maxpeers 0 --nat none --ipcdisable --cache 1024 " +
      "--http --http.port 0 --http.api eth,debug,testing --authrpc.port 0";
    const paths = [
      "--datadir",
      join(this.folder, "data"),
      "--authrpc.jwtsecret",
      join(this.folder, "secret"),
    ];
    const args = [...plain.split(" "), ...paths];
    return startServer("geth", this.geth, args, LISTENING);
  }

  /**
   * Creates proofd's store from the traces of `server`. @returns the cost from block 1 to the newest, with CPU times per
   * block; undefined if the store exists already
   */
  async follow(server: ServerProcess) {
    if (existsSync(this.store)) return undefined;
    rmSync(this.unfinished, {recursive: true, force: true});
    const newest = Number(await server.call("eth_blockNumber"));
    await this.import(server, "--to", "0", "--genesis", join(this.folder, "genesis.json"));
    const [startMs, ownMs, gethMs] = [performance.now(), readChildrenCpuMs(), server.readCpuMs()];
    await this.import(server, "--finalized", "last");
    renameSync(this.unfinished, this.store);
    return {
      blocksPerSecond: (newest * 1000) / (performance.now() - startMs),
      proofdMs: (readChildrenCpuMs() - ownMs) / newest,
      gethMs: (server.readCpuMs() - gethMs) / newest,
    };
  }

  private async import(server: ServerProcess, ...more: readonly string[]): Promise<void> {
    const flags = ["--db", this.unfinished, "--l2", server.url.href, "--source", "trace"];
    const child = spawn(process.execPath, [PROOFD, "import", ...flags, ...more], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`proofd import ended with ${code}`);
  }

  private init(accounts: number): void {
    const config = {...configOfFork("cancun"), chainId: CHAIN_ID, terminalTotalDifficulty: 0};
    const blobSchedule = {cancun: {target: 3, max: 6, baseFeeUpdateFraction: 3_338_477}};
    const alloc = {
      ...makeAlloc(accounts),
      [SENDER]: {balance: quantity(10n ** 24n)},
      [PAYER]: {balance: quantity(10n ** 18n), code: PAYER_CODE},
    };
    const path = join(this.folder, "genesis.json");
    const fields = {difficulty: "0x0", gasLimit: "0x3938700", timestamp: quantity(BigInt(GENESIS_SECONDS))};
    writeFileSync(path, JSON.stringify({config: {...config, blobSchedule}, alloc, ...fields}));
    writeFileSync(join(this.folder, "secret"), SECRET.toString("hex"));
    const args = ["init", "--datadir", join(this.folder, "data"), "--state.scheme", "hash", path];
    const {status, stderr} = spawnSync(this.geth, args, {encoding: "utf8"});
    if (status !== 0) throw new Error(`geth init ended with ${status}: ${stderr}`);
  }
}

/** Builds the blocks by calling the engine API, as a consensus client does. */
async function build(server: ServerProcess, accounts: number, blocks: number): Promise<void> {
  let {hash} = (await server.call("eth_getBlockByNumber", ["0x0", false])) as {hash: string};
  let nonce = 0n;
  for (let number = 1; number <= blocks; number++) {
    const {accounts: changes} = makeBlock(number, accounts, TRIE_CHANGES);
    const paid = Array.from({length: changes.count}, (_, i) => word(BigInt(encodeHex(changes.addressAt(i)))));
    const transactions: string[] = [];
    for (let first = 0; first < paid.length; first += PAID_AT_ONCE)
      transactions.push(sign(nonce++, Buffer.concat(paid.slice(first, first + PAID_AT_ONCE))));
    const root = encodeHex(word(BigInt(number)));
    const attributes = {
      timestamp: quantity(BigInt(GENESIS_SECONDS + 12 * number)),
      prevRandao: root,
      suggestedFeeRecipient: PAYER,
      withdrawals: [],
      parentBeaconBlockRoot: root,
    };
    const made = await server.call("testing_buildBlockV1", [hash, attributes, transactions, "0x"]);
    const {executionPayload} = made as {executionPayload: {blockHash: string}};
    hash = executionPayload.blockHash;
    await engine(server, "engine_newPayloadV3", [executionPayload, [], root]);
    const none = `0x${"00".repeat(32)}`;
    const head = {headBlockHash: hash, safeBlockHash: none, finalizedBlockHash: none};
    await engine(server, "engine_forkchoiceUpdatedV3", [head, null]);
  }
}

function sign(nonce: bigint, calldata: Uint8Array): string {
  const envelope = TxEnvelopeEip1559.from({
    chainId: CHAIN_ID,
    nonce,
    to: PAYER,
    data: encodeHex(calldata) as `0x${string}`,
    gas: GAS,
    maxFeePerGas: GAS_PRICE,
    maxPriorityFeePerGas: 1n,
  });
  const payload = TxEnvelopeEip1559.getSignPayload(envelope);
  const signature = Secp256k1.sign({payload, privateKey: KEY});
  return TxEnvelopeEip1559.serialize(envelope, {signature});
}

async function engine(server: ServerProcess, method: string, params: readonly unknown[]): Promise<void> {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const text = `${encode({alg: "HS256", typ: "JWT"})}.${encode({iat: Math.floor(Date.now() / 1000)})}`;
  const token = `${text}.${createHmac("sha256", SECRET).update(text).digest("base64url")}`;
  const response = await fetch(`http://${server.second}`, {
    method: "POST",
    headers: {"content-type": "application/json", authorization: `Bearer ${token}`},
    body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params}),
  });
  const answer = await response.text();
  if (!answer.includes('"VALID"')) throw new Error(`geth: ${method}: ${answer}`);
}
