/** Sends a command to the process that has a store open. */
import {type BlockCommand, type ControlAnswer, decodeAnswer} from "./blockCommand.ts";
import {readControlFile} from "./controlFile.ts";

/** An answer, two heads, is much smaller. */
const MAX_ANSWER_BYTES = 16 << 10;

/** The server sends bytes more often while a command waits, as for an import to finish its block. */
const SILENCE_MS = 10_000;

/** No process accepts the command. `message` says why. */
export class NoControl extends Error {
  override readonly name = "NoControl";
}

/** @param silenceMs - it fails if nothing arrives for this long. @throws NoControl */
export async function sendCommand(
  directory: string,
  {kind, to}: BlockCommand,
  silenceMs = SILENCE_MS,
): Promise<ControlAnswer> {
  const address = readControlFile(directory);
  if (address === undefined) throw new NoControl("it has no control.json");
  const {port, token, pid} = address;
  const silence = new AbortController();
  const timer = setTimeout(() => {
    silence.abort(new Error(`it has sent nothing for ${silenceMs} ms`));
  }, silenceMs);
  try {
    const response = await fetch(`http://127.0.0.1:${port}/${kind}`, {
      method: "POST",
      headers: {Authorization: `Bearer ${token}`},
      body: JSON.stringify({to}),
      signal: silence.signal,
    });
    if (response.status !== 200)
      throw new NoControl(
        `another program listens on the port of its control.json, which process ${pid} has left behind (HTTP ${response.status})`,
      );
    return decodeAnswer(await readText(response, timer));
  } catch (error) {
    if (error instanceof NoControl) throw error;
    const {message, cause} = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new NoControl(`nothing answers on the port of its control.json (process ${pid}): ${reason}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** @param silence - restarts with each part */
async function readText({body}: Response, silence: NodeJS.Timeout): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of body ?? []) {
    silence.refresh();
    text += decoder.decode(part, {stream: true});
    if (text.length > MAX_ANSWER_BYTES) throw new NoControl("another program listens on that port");
  }
  return text;
}
