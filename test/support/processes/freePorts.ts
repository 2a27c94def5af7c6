/** Ports for programs that must be told theirs before they start. */
import {randomInt} from "node:crypto";
import {createServer} from "node:net";
import {once} from "../wait.ts";

/** Ports below those that systems give to whoever asks for any, so that nobody gets them before the programs do. */
const [LOWEST_PORT, HIGHEST_PORT] = [12_000, 32_000];

export async function findPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false; // another program has it
  }
  server.close();
  await once(server, "close");
  return true;
}
