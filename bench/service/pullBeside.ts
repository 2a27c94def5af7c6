/**
 * A client that pulls the whole state and verifies it: alone, and its cost for single proofs beside it.
 *
 * Before, the store gets contracts with many slots. So the state has a million accounts and 300 000 slots, if not told otherwise.
 */
import {type ChildProcess, spawn} from "node:child_process";
import {once} from "node:events";
import {fileURLToPath} from "node:url";
import {numberedAddress} from "proofd-load";
import {Yardstick} from "../program/yardstick.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {PullFigures, PullOrder} from "./pullProgram.ts";
import {
  compareProofs,
  type Finding,
  MB,
  readLatest,
  type ServiceBench,
  warmUp,
  withServer,
  writeBlock,
} from "./serviceBench.ts";

const PROGRAM = fileURLToPath(new URL("./pullProgram.js", import.meta.url));
const CONTRACTS = 3000;
const SLOTS_OF_CONTRACT = 100;
const CONTRACTS_OF_BLOCK = 100;
const PASSES = 1;
const LOCAL_HOST = "127.0.0.1";
/** Clients take turns by address, and those who want single proofs are others. */
const PULLING_CLIENT = "192.0.2.1";
const HASHES_PER_LOOK = 500;
const LOOK_EVERY_MS = 100;
const LOOK_FOR_BLOCK_MS = 100;

export function measurePull(bench: ServiceBench): Promise<Finding[]> {
  return withServer(
    bench,
    ["--allow-unverified", "--diffs", "-", "--trust-forwarded", LOCAL_HOST],
    async server => {
      await warmUp(server, bench);
      await addContracts(server, bench);
      const block = await readLatest(server);
      const {stateRoot} = (await server.call("chain_getStateRoot", [`0x${block.toString(16)}`])) as {
        readonly stateRoot: string;
      };
      const headers = {"x-forwarded-for": PULLING_CLIENT};
      const order = {url: server.url.href, tree: "all", block, root: stateRoot, headers};
      const yardstick = new Yardstick(HASHES_PER_LOOK, LOOK_EVERY_MS);
      const cpuBefore = server.readCpuMs();
      yardstick.start();
      const figures = await pull(order);
      yardstick.stop();
      const serverCpuSeconds = (server.readCpuMs() - cpuBefore) / 1000;
      const {alone, beside, ratio} = await compareProofs(server, bench, PASSES, async () => {
        const repeated = new RepeatedPull(order);
        return () => repeated.stop();
      });
      return [
        {
          figure: `a pull of ${figures.accounts} accounts and ${figures.slots} slots`,
          value: figures.seconds,
          unit: "s",
        },
        {
          figure: "... in hashes of that time, each account or slot",
          value: inHashes(figures, yardstick.medianUs),
          unit: "",
        },
        {figure: "... a hash of 64 bytes meanwhile", value: yardstick.medianUs, unit: "us"},
        {figure: "... bytes of answers", value: figures.bytes / MB, unit: "MB"},
        {figure: "... requests", value: figures.requests, unit: ""},
        {figure: "... processor time of the client", value: figures.cpuSeconds, unit: "s"},
        {figure: "... processor time of the server", value: serverCpuSeconds, unit: "s"},
        {figure: "... peak RSS of the client", value: figures.peakRssBytes / MB, unit: "MB"},
        {figure: "p99 of single proofs without a pull", value: alone, unit: "ms"},
        {figure: "p99 during a pull", value: beside, unit: "ms"},
        {figure: "... ratio", value: ratio, unit: "x"},
      ];
    },
  );
}

function inHashes({seconds, accounts, slots}: PullFigures, hashUs: number): number {
  return (seconds * 1e6) / hashUs / (accounts + slots);
}

/** Gives storage to accounts that have none, and waits until the last block is imported. */
async function addContracts(server: ServerProcess, {accounts}: ServiceBench): Promise<void> {
  const first = (await readLatest(server)) + 1;
  const blocks = CONTRACTS / CONTRACTS_OF_BLOCK;
  for (let i = 0; i < blocks; i++) {
    const changes = Array.from({length: CONTRACTS_OF_BLOCK}, (_, k) => {
      const contract = i * CONTRACTS_OF_BLOCK + k;
      const storage = Array.from(
        {length: SLOTS_OF_CONTRACT},
        (_, slot) =>
          `"0x${numberedAddress(slot + contract)}${contract.toString(16).padStart(24, "0")}":"0x${(slot + 1).toString(16)}${"0".repeat(18)}"`,
      );
      // Spread over the account tree.
      const account = Math.floor((contract * accounts) / CONTRACTS);
      return `"0x${numberedAddress(account)}":{"storage":{${storage.join()}}}`;
    });
    server.write(writeBlock(first + i, true, changes));
  }
  while ((await readLatest(server)) < first + blocks - 1)
    await new Promise(resolve => setTimeout(resolve, LOOK_FOR_BLOCK_MS));
}

async function pull(order: PullOrder): Promise<PullFigures> {
  const child = startPull(order);
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`the pull ended with ${code}`);
  return JSON.parse(output) as PullFigures;
}

function startPull(order: PullOrder): ChildProcess {
  return spawn(process.execPath, [PROGRAM, JSON.stringify(order)], {stdio: ["ignore", "pipe", "inherit"]});
}

/** Pulls again and again until it is stopped. */
class RepeatedPull {
  private readonly ended: Promise<void>;
  private child: ChildProcess | undefined;
  private isStopped = false;

  constructor(order: PullOrder) {
    this.ended = this.run(order);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.child?.kill();
    await this.ended;
  }

  private async run(order: PullOrder): Promise<void> {
    while (!this.isStopped) {
      this.child = startPull(order);
      this.child.stdout?.resume();
      await once(this.child, "close");
    }
  }
}
