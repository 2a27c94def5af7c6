/** An HAProxy before some proofd, with a cache for the paths that may be kept (docs/json-rpc.md#proofs-for-caches). */
import {once} from "node:events";
import {writeFileSync} from "node:fs";
import {type AddressInfo, createServer} from "node:net";
import {join} from "node:path";
import {findProgram, ProgramMissing} from "../program/foundProgram.ts";
import {type ServerProcess, startServer} from "../served/serverProcess.ts";

/** @param folder - of its configuration. @throws ProgramMissing if haproxy is not in PATH */
export async function startHaproxy(
  folder: string,
  replicas: readonly ServerProcess[],
): Promise<ServerProcess> {
  const command = findProgram("haproxy");
  if (command === undefined)
    throw new ProgramMissing("haproxy is not in PATH (Debian: apt-get install haproxy)");
  const host = `127.0.0.1:${await findPort()}`;
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, writeConfig(host, replicas));
  // It prints this after it has bound its port.
  return startServer({
    name: "haproxy",
    command,
    args: ["-V", "-db", "-f", file],
    listening: /as the polling mechanism/,
    host,
  });
}

/** @returns a port that was free just now: HAProxy cannot say which one it was given */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const {port} = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
}

function writeConfig(host: string, replicas: readonly ServerProcess[]): string {
  const servers = replicas.map((replica, at) => `  server r${at + 1} ${replica.url.host}`);
  return `global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
cache proofs
  total-max-size 64
  max-object-size 100000
  max-age 3600
frontend edge
  bind ${host}
  http-request cache-use proofs
  http-response cache-store proofs
  default_backend replicas
backend replicas
  balance roundrobin
${servers.join("\n")}
`;
}
