/**
 * The server to compare with: chain_getProof in the plain way, without any of proofd's ideas.
 *
 *   node naiveServer.js FOLDER THREADS      FOLDER: of a naive store. Its address goes to standard output
 *
 *   node:http -> JSON.parse -> a Piscina task per call -> 42 reads -> objects -> JSON.stringify
 *
 * It checks nothing, has no limits and no history, and proves the newest block for every request. Not for use.
 */
import {createServer} from "node:http";
import type {AddressInfo} from "node:net";
import {text} from "node:stream/consumers";
import {Level} from "level";
import {Piscina} from "piscina";
import {HEAD_KEY, LEVEL_OPTIONS} from "./naiveLayout.ts";
import type {NaiveCall} from "./naiveWorker.ts";

interface Request {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly [string, readonly string[], string];
}

const [db = "", threads] = process.argv.slice(2);
const level = new Level<string, Buffer>(db, {...LEVEL_OPTIONS, createIfMissing: false});
const head = JSON.parse(String(await level.get(HEAD_KEY))) as object;
const pool = new Piscina<NaiveCall, unknown>({
  filename: new URL("./naiveWorker.js", import.meta.url).href,
  minThreads: Number(threads),
  maxThreads: Number(threads),
  workerData: {db},
});
const server = createServer(async (request, response) => {
  // `proofd load` asks for /metrics too.
  if (request.method === "GET") {
    response.writeHead(404).end();
    return;
  }
  const body = JSON.parse(await text(request)) as Request | Request[];
  const answer = Array.isArray(body) ? await Promise.all(body.map(answerCall)) : await answerCall(body);
  response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
});
server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({msg: "listening", url})}\n`);
});

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
