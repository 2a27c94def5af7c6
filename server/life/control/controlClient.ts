/** Sends an order to the process that has a store open. */
import {once} from "node:events";
import {type IncomingMessage, request} from "node:http";
import {type BlockOrder, type ControlAnswer, decodeAnswer} from "./blockOrder.ts";
import {type ControlAddress, readControlFile} from "./controlFile.ts";

/** An answer has two heads, so it is much smaller. */
const MAX_ANSWER_BYTES = 16 << 10;

/** An order may take as long as it needs, since an import first finishes its block. Its process sends a byte more often than this. */
const SILENCE_MS = 10_000;

/** No process takes the order. `message` says why. */
export class NoControl extends Error {
  override readonly name = "NoControl";
}

/**
 * Sends the order and waits for its answer.
 *
 * @param silenceMs - a program that sends nothing for this long is not waited for
 * @throws NoControl
 */
export async function sendOrder(
  directory: string,
  order: BlockOrder,
  silenceMs = SILENCE_MS,
): Promise<ControlAnswer> {
  const address = await readControlFile(directory);
  if (address === undefined) throw new NoControl("it has no control.json");
  try {
    return await post(address, order, silenceMs);
  } catch (error) {
    if (error instanceof NoControl) throw error;
    const what = `nothing answers on the port of its control.json (process ${address.pid})`;
    throw new NoControl(`${what}: ${(error as Error).message}`, {cause: error});
  }
}

async function post(
  {port, token, pid}: ControlAddress,
  order: BlockOrder,
  silenceMs: number,
): Promise<ControlAnswer> {
  const headers = {Authorization: `Bearer ${token}`, "Content-Type": "application/json"};
  const path = `/${order.kind}`;
  const sent = request({host: "127.0.0.1", port, path, method: "POST", headers, agent: false});
  sent.on("error", () => {}); // it ends the wait for the response, or the response
  let response: IncomingMessage | undefined;
  sent.setTimeout(silenceMs, () => {
    (response ?? sent).destroy(new Error(`it has sent nothing for ${silenceMs} ms`));
  });
  sent.end(JSON.stringify({to: order.to}));
  [response] = (await once(sent, "response")) as [IncomingMessage];
  const text = await readText(response);
  if (response.statusCode !== 200)
    throw new NoControl(
      `another program listens on the port of its control.json, which process ${pid} has left behind (HTTP ${response.statusCode})`,
    );
  return decodeAnswer(text);
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
    text += chunk;
    if (text.length > MAX_ANSWER_BYTES) throw new NoControl("another program listens on that port");
  }
  return text;
}
