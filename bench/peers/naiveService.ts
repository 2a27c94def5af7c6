/**
 * The server to compare with: chain_getProof in the plain way, without any of proofd's ideas.
 *
 *   node:http -> JSON.parse -> a Piscina task per call -> 42 reads -> objects -> JSON.stringify
 *
 * It checks nothing, has no limits and no history, and proves the newest block for every request. Not for use.
 */
import {createServer, type IncomingMessage} from "node:http";
import type {AddressInfo} from "node:net";
import {Level} from "level";
import {Piscina} from "piscina";
import {FlagError} from "../program/benchProgram.ts";
import {HEAD_KEY, LEVEL_OPTIONS, type NaiveHead} from "./naiveLayout.ts";
import type {NaiveCall} from "./naiveWorker.ts";

interface Request {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly [string, readonly string[], string];
}

/** Commander's values, by flag. */
export interface NaiveFlags {
  readonly db: string;
  readonly workers: number;
}

let head: NaiveHead;
let pool: Piscina<NaiveCall, unknown>;

/** Serves until the process ends. @throws FlagError if the folder holds no naive store */
export async function serveNaive({db, workers}: NaiveFlags): Promise<void> {
  head = await readHead(db);
  pool = new Piscina<NaiveCall, unknown>({
    filename: new URL("./naiveWorker.js", import.meta.url).href,
    minThreads: workers,
    maxThreads: workers,
    workerData: {db},
  });
  serve();
}

function serve(): void {
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await readBody(request)) as Request | Request[];
    const answer = Array.isArray(body) ? await Promise.all(body.map(answerCall)) : await answerCall(body);
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1", () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    process.stdout.write(`${JSON.stringify({msg: "listening", url})}\n`);
  });
}

async function answerCall({id, method, params}: Request): Promise<unknown> {
  switch (method) {
    case "chain_getProof": {
      const [address, slots] = params;
      return {jsonrpc: "2.0", id, result: await pool.run({address, slots})};
    }
    case "chain_getStateRoot":
      return {jsonrpc: "2.0", id, result: {...head, finalized: true}};
    default:
      return {jsonrpc: "2.0", id, error: {code: -32601, message: `no method ${method}`}};
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** The threads open the store themselves. @param directory - holds a store. @throws FlagError if it is another's */
async function readHead(directory: string): Promise<NaiveHead> {
  const db = new Level<string, Buffer>(directory, {...LEVEL_OPTIONS, createIfMissing: false});
  let head: Buffer | undefined;
  try {
    await db.open();
    head = await db.get(HEAD_KEY);
    await db.close();
  } catch (error) {
    const reason = (error as Error).cause ?? error;
    throw new FlagError(`--db is '${directory}': expected a naive store (${(reason as Error).message})`);
  }
  if (head === undefined) throw new FlagError(`--db is '${directory}': it holds no naive store`);
  return JSON.parse(head.toString("utf8")) as NaiveHead;
}
