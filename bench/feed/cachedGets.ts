/** GETs of a few proofs that everyone asks for, on connections that are kept, one request at a time on each. */
import {once} from "node:events";
import {connect, type Socket} from "node:net";
import {numberedAddress} from "proofd-load";

const PROOFS = 500;
const CONNECTIONS = 32;
const HEAD_END = "\r\n\r\n";

interface GetRequests {
  /** Host and port. */
  readonly host: string;
  /** Each asks for one proof. */
  readonly texts: readonly string[];
  /** Of every answer. */
  readonly status: number;
}

/**
 * Asks for each proof once, so that a cache has it then.
 *
 * @param isKnown - the requests name the tag that the answers had, as a client does that has them
 */
export async function prepareGets(url: URL, block: number, isKnown: boolean): Promise<GetRequests> {
  const texts: string[] = [];
  for (let account = 0; account < PROOFS; account++) {
    const path = `/v1/proof/0x${block.toString(16)}/0x${numberedAddress(account)}`;
    const answer = await fetch(new URL(path, url));
    const tag = answer.headers.get("etag");
    if (answer.status !== 200 || tag === null)
      throw new Error(`${path}: expected 200 with an ETag, got ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
    const known = isKnown ? `If-None-Match: ${tag}\r\n` : "";
    texts.push(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${known}\r\n`);
  }
  return {host: url.host, texts, status: isKnown ? 304 : 200};
}

/** @returns answers per second. @throws Error for an answer with another status */
export async function measureGets(requests: GetRequests, durationSeconds: number): Promise<number> {
  const startMs = performance.now();
  const until = startMs + durationSeconds * 1000;
  const counts = await Promise.all(
    Array.from({length: CONNECTIONS}, (_, at) => askUntil(requests, at, until)),
  );
  return (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - startMs);
}

async function askUntil({host, texts, status}: GetRequests, first: number, until: number): Promise<number> {
  const {hostname, port} = new URL(`http://${host}`);
  const socket = connect({host: hostname, port: Number(port), noDelay: true});
  await once(socket, "connect");
  try {
    return await new Promise((resolve, reject) => {
      let count = 0;
      const ask = () => socket.write(texts[(first + count * CONNECTIONS) % texts.length] as string);
      readAnswers(socket, found => {
        if (found !== status) reject(new Error(`expected status ${status}, got ${found}`));
        count++;
        if (performance.now() < until) ask();
        else resolve(count);
      });
      socket.once("error", reject).once("close", () => reject(new Error(`${host} closed a connection`)));
      ask();
    });
  } finally {
    socket.destroy();
  }
}

/** Calls `onAnswer` with the status of each whole answer. A 304 has no body. */
function readAnswers(socket: Socket, onAnswer: (status: number) => void): void {
  let head = "";
  let [status, left] = [0, 0];
  socket.on("data", (chunk: Buffer) => {
    let body = chunk.length;
    if (status === 0) {
      head += chunk.toString("latin1");
      const end = head.indexOf(HEAD_END);
      if (end === -1) return;
      const text = head.slice(0, end);
      status = Number(text.slice(9, 12));
      left = status === 304 ? 0 : Number(/^content-length: (\d+)$/im.exec(text)?.[1]);
      body = head.length - end - HEAD_END.length;
      head = "";
    }
    left -= body;
    if (left > 0) return;
    const ended = status;
    status = 0;
    onAnswer(ended);
  });
}
