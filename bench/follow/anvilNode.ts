/** anvil as the layer-2 node of the bench. */
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {configOfFork} from "../../workers/execution/forks.ts";
import {parseGenesis} from "../../workers/execution/genesis.ts";
import {encodeJsonBlock} from "../../workers/import/follow/jsonBlock.ts";
import {ANVIL_ACCOUNTS, makeAnvilState} from "../chains/anvilState.ts";
import {startAnvil} from "../served/anvil.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {allocateToken, type ChainNode, makeTransaction} from "./chainNode.ts";

export const TRANSACTIONS_PER_BLOCK = 50;
const CHAIN_ID = 424_242;
/** The newest fork whose state roots anvil 1.7.1 computes as the rules say. */
const FORK = "cancun";
const GAS_LIMIT = 30_000_000;
const ETHER = "0x21e19e0c9bab2400000";

export class AnvilNode implements ChainNode {
  private sent = 0;

  private constructor(
    readonly server: ServerProcess,
    /** For files about the chain. It is removed when the node stops. */
    readonly folder: string,
    /** The genesis file's text. */
    readonly genesis: string,
    readonly genesisPath: string,
  ) {}

  /** @throws Error if anvil is not installed */
  static async start(): Promise<AnvilNode> {
    const folder = mkdtempSync(join(tmpdir(), "proofd-follow-"));
    const genesisPath = join(folder, "genesis.json");
    const statePath = join(folder, "state.json");
    const genesis = JSON.stringify(makeGenesis());
    writeFileSync(genesisPath, genesis);
    writeFileSync(statePath, await makeAnvilState(genesis));
    const server = await startAnvil(
      ...["--load-state", statePath, "--accounts", `${ANVIL_ACCOUNTS.length}`, "--no-mining"],
      // An account that the genesis file does not have.
      "--disable-default-create2-deployer",
      ...["--hardfork", FORK, "--chain-id", `${CHAIN_ID}`],
    );
    return new AnvilNode(server, folder, genesis, genesisPath);
  }

  async mine(): Promise<number> {
    const calls = Array.from({length: TRANSACTIONS_PER_BLOCK}, (_, i) => ({
      jsonrpc: "2.0",
      id: i,
      method: "eth_sendTransaction",
      params: [addSender(this.sent + i)],
    }));
    this.sent += calls.length;
    const response = await fetch(this.server.url, {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: JSON.stringify(calls),
    });
    const answers = (await response.json()) as {error?: {message: string}}[];
    const refused = answers.find(({error}) => error !== undefined)?.error;
    if (refused !== undefined) throw new Error(`anvil refused a transaction: ${refused.message}`);
    await this.server.call("evm_mine");
    return Number(await this.server.call("eth_blockNumber"));
  }

  /** @returns blocks 1 to `last` as `geth export` writes them */
  async readChain(last: number): Promise<Uint8Array> {
    const {forks} = parseGenesis(this.genesis);
    const blocks: Uint8Array[] = [];
    for (let number = 1; number <= last; number++) {
      const params = [`0x${number.toString(16)}`, true];
      blocks.push(encodeJsonBlock(await this.server.call("eth_getBlockByNumber", params), number, forks));
    }
    return Buffer.concat(blocks);
  }

  async stop(): Promise<void> {
    try {
      await this.server.stop();
    } finally {
      rmSync(this.folder, {recursive: true});
    }
  }
}

function makeGenesis(): object {
  return {
    config: {...configOfFork(FORK), chainId: CHAIN_ID},
    alloc: {
      ...Object.fromEntries(ANVIL_ACCOUNTS.map(address => [address, {balance: ETHER}])),
      ...allocateToken(ANVIL_ACCOUNTS),
    },
    difficulty: "0x0",
    gasLimit: `0x${GAS_LIMIT.toString(16)}`,
    baseFeePerGas: "0x7",
    timestamp: "0x6553f22d",
  };
}

function addSender(i: number): object {
  return {from: ANVIL_ACCOUNTS[i % ANVIL_ACCOUNTS.length], ...makeTransaction(i)};
}
