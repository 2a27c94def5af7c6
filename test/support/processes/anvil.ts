/** Anvil, a real node, as a process of its own. It is an optional dependency, which is not there on every system. */
import {type ChildProcess, spawnSync} from "node:child_process";
import {writeFile} from "node:fs/promises";
import {createRequire} from "node:module";
import {dirname, join} from "node:path";
import {createInterface} from "node:readline";
import {gunzipSync} from "node:zlib";
import {RpcNode} from "../nodes/rpcNode.ts";
import {once, within} from "../wait.ts";
import {startChild} from "./childProcesses.ts";

const PACKAGE = "@foundry-rs/anvil-linux-amd64";

/** 0x quantities. */
interface BlockTimes {
  readonly number: string;
  readonly timestamp: string;
}

export class Anvil extends RpcNode {
  readonly name = "anvil";

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    super();
  }

  /**
   * Starts anvil.
   *
   * @param port - 0 takes a free one
   * @returns anvil, or a text that says why not, if the package is not installed or its binary does not run
   * @throws Error with anvil's output if it ends before it listens
   */
  static async start(args: readonly string[], port = 0): Promise<Anvil | string> {
    let binary: string;
    try {
      const manifest = createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`);
      binary = join(dirname(manifest), "bin", "anvil");
    } catch {
      return `${PACKAGE} is not installed`;
    }
    const trial = spawnSync(binary, ["--version"], {encoding: "utf8"});
    if (trial.status !== 0) return `${binary} does not run: ${trial.error?.message ?? trial.stderr}`;
    const child = startChild(binary, ["--port", String(port), ...args]);
    child.stdin.end();
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const listens = new Promise<string>((resolve, reject) => {
      child.once("close", code => reject(new Error(`anvil ended with ${code}: ${said}`)));
      createInterface(child.stdout).on("line", line => {
        const listening = /^Listening on (\S+)/.exec(line)?.[1];
        if (listening !== undefined) resolve(listening);
      });
    });
    return new Anvil(child, `http://${await within("anvil to listen", listens)}`);
  }

  /**
   * Stops it and starts another one on its port, with its blocks and their states.
   *
   * @param path - of a file for them
   * @param between - runs while there is no node
   */
  async restart(path: string, args: readonly string[], between: () => Promise<void>): Promise<Anvil> {
    await writeFile(path, JSON.stringify(await this.dumpState()));
    await this.stop();
    await between();
    const anvil = await Anvil.start([...args, "--load-state", path], Number(new URL(this.url).port));
    if (typeof anvil === "string") throw new Error(anvil);
    return anvil;
  }

  /**
   * Its blocks and states. An anvil that loads them makes a block 0 of its own too, and dumps both later, in any order: then the
   * next one would take either. So only the one that counts is left.
   */
  async dumpState(): Promise<object> {
    const genesis = await this.request<BlockTimes>("eth_getBlockByNumber", "0x0", false);
    const packed = await this.request<string>("anvil_dumpState", true);
    const text = gunzipSync(Buffer.from(packed.slice(2), "hex")).toString();
    const state = JSON.parse(text) as {readonly blocks: readonly {readonly header: BlockTimes}[]};
    const isOther = ({number, timestamp}: BlockTimes) =>
      Number(number) === 0 && Number(timestamp) !== Number(genesis.timestamp);
    return {...state, blocks: state.blocks.filter(({header}) => !isOther(header))};
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const closed = once(this.child, "close");
    this.child.kill();
    await closed;
  }
}
