/**
 * A thread with clients of many addresses that ask a server the same again and again, until it is ended. The addresses are 127.0.1.0 and
 * those after it, which are this machine's own on Linux.
 */
import {Agent, request} from "node:http";
import {workerData} from "node:worker_threads";

export interface Crowd {
  readonly port: number;
  readonly addresses: number;
  /** Of each address. */
  readonly connections: number;
  readonly body: string;
}

const {port, addresses, connections, body}: Crowd = workerData;
/** After a connection was refused or cut. */
const AGAIN_MS = 50;
const headers = {"Content-Type": "application/json", "Content-Length": Buffer.byteLength(body)};
const agent = new Agent({keepAlive: true});

/** Sends the request again when it is answered. */
function loop(localAddress: string): void {
  const options = {agent, port, host: "127.0.0.1", localAddress, method: "POST", headers};
  const asked = request(options, answer => {
    // Of an answer that is cut: `close` follows.
    answer.on("error", () => {});
    answer.on("close", () => loop(localAddress)).resume();
  });
  asked.on("error", () => setTimeout(() => loop(localAddress), AGAIN_MS)).end(body);
}

for (let at = 0; at < addresses; at++)
  for (let i = 0; i < connections; i++) loop(`127.0.${1 + (at >> 8)}.${at & 0xff}`);
