/** Finds out why uWebSockets.js could not listen, since it does not say. */
import {lookup} from "node:dns/promises";
import {once} from "node:events";
import {createServer} from "node:net";

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is in use",
  EADDRNOTAVAIL: "this machine has no such address",
  EAFNOSUPPORT: "this machine has no such address",
  EACCES: "this user may not listen on that port",
};

/** Looks up the host and binds the address with Node, whose errors have a code. @throws Error that says why */
export async function explainListenFailure(host: string, port: number): Promise<never> {
  throw new Error(`cannot listen on ${host}:${port}: ${await findReason(host, port)}`);
}

async function findReason(host: string, port: number): Promise<string> {
  try {
    await lookup(host);
  } catch (error) {
    return `the host ${host} cannot be resolved (${codeOf(error)})`;
  }
  const probe = createServer();
  try {
    probe.listen({host, port, exclusive: true});
    await once(probe, "listening");
    return "the system refused the address at first, but accepts it now: try again";
  } catch (error) {
    return REASONS[codeOf(error)] ?? (error as Error).message;
  } finally {
    probe.close();
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}
