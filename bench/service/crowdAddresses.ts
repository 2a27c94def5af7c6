/**
 * Clients of many addresses that ask a server the same again and again, in a process of their own. Run:
 *
 *   node crowdAddresses.js PORT ADDRESSES CONNECTIONS      the body of the request on standard input; ends when killed
 *
 * The addresses are 127.0.1.0 and those after it, which are this machine's own on Linux.
 */
import {connect} from "node:net";
import {text} from "node:stream/consumers";

const [port = 0, addresses = 0, connections = 0] = process.argv.slice(2).map(Number);
/** Also after a connection was refused or cut. */
const AGAIN_MS = 50;
const body = await text(process.stdin);
const request = Buffer.from(
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);
const LENGTH = /\r\nContent-Length: (\d+)\r\n/i;
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");

/** Sends the request again when it is answered. */
function loop(localAddress: string): void {
  const socket = connect({port, host: "127.0.0.1", localAddress});
  /** Bytes until the end of the answer. undefined: its head has not come, or it has chunks. */
  let left: number | undefined;
  let tail = Buffer.alloc(0);
  const send = () => {
    left = undefined;
    tail = Buffer.alloc(0);
    socket.write(request);
  };
  socket.on("connect", send);
  socket.on("data", chunk => {
    if (left === undefined) {
      tail = Buffer.concat([tail, chunk]);
      const end = tail.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = tail.toString("latin1", 0, end + 2);
      const length = LENGTH.exec(head)?.[1];
      if (length !== undefined) left = Number(length) - (tail.length - end - 4);
      else if (tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) left = 0;
      else tail = Buffer.concat([tail.subarray(0, end + 4), tail.subarray(-LAST_CHUNK.length)]);
    } else left -= chunk.length;
    if (left !== undefined && left <= 0) send();
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => setTimeout(() => loop(localAddress), AGAIN_MS));
}

for (let at = 0; at < addresses; at++)
  for (let i = 0; i < connections; i++) loop(`127.0.${1 + (at >> 8)}.${at & 0xff}`);
