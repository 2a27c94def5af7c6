/** A service that follows layer-2 nodes, and what a test waits for. */
import type {LiveChain} from "../chains/liveChain.ts";
import type {AskedService} from "./askedService.ts";
import {OwnService} from "./ownService.ts";

/** Runs `body` against a service with these flags in the test's own process. */
export async function withFollower(
  flags: readonly string[],
  body: (daemon: OwnService) => Promise<void>,
): Promise<void> {
  const daemon = await OwnService.serve(flags);
  try {
    await body(daemon);
  } finally {
    await daemon.stop();
  }
}

/** Waits until the service holds this block: after a reorganisation the number alone says nothing. */
export async function waitForHash(
  daemon: AskedService,
  number: number,
  hash: string | undefined,
): Promise<void> {
  const tag = `0x${number.toString(16)}`;
  await daemon.until(`block ${number} with hash ${hash}`, async () => {
    return (await daemon.call("chain_getStateRoot", [tag])).result?.hash === hash;
  });
}

/** Waits until the service holds the chain's newest block. @returns its number */
export async function waitForChain(daemon: AskedService, chain: LiveChain): Promise<number> {
  const {number, hash} = await chain.block("latest");
  await waitForHash(daemon, number, hash);
  return number;
}

export function readLog(daemon: AskedService, message: string): Readonly<Record<string, unknown>>[] {
  return daemon.stderr
    .split("\n")
    .filter(line => line.startsWith("{"))
    .map(line => JSON.parse(line))
    .filter(({msg}) => msg === message);
}
