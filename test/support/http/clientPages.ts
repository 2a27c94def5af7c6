/**
 * A web server on this machine, for a page that uses the packed client.
 *
 *   /              the page
 *   /files/PATH    a file of the folder
 *   /bundled/PATH  a module of the folder with paths in place of package names, as bundlers write them: import maps do not
 *                  reach workers
 */
import {readFile} from "node:fs/promises";
import {createServer, type Server} from "node:http";
import type {AddressInfo} from "node:net";
import {extname, join} from "node:path";

const PACKAGES = {
  "proofd-client": "node_modules/proofd-client/dist/client.js",
  "@noble/hashes/": "node_modules/@noble/hashes/",
};

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".json": "application/json",
};

const PAGE = `<!doctype html>
<script type="importmap">${JSON.stringify({
  imports: Object.fromEntries(Object.entries(PACKAGES).map(([name, path]) => [name, `/files/${path}`])),
})}</script>
<pre id="page"></pre><pre id="worker"></pre>
<script type="module" src="/files/page.mjs"></script>
`;

export class ClientPages {
  readonly origin: string;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param folder - has page.mjs and node_modules/proofd-client */
  static async start(folder: string): Promise<ClientPages> {
    const server = createServer(async ({url = ""}, response) => {
      const [, room, path] = /^\/(\w*)\/?(.*)$/.exec(url) ?? [];
      if (room === "files" || room === "bundled") {
        const text = await readFile(join(folder, path as string), "utf8").catch(() => undefined);
        response.writeHead(text === undefined ? 404 : 200, {"content-type": TYPES[extname(url)] ?? ""});
        response.end(room === "bundled" && text !== undefined ? writePaths(text) : text);
        return;
      }
      response.writeHead(200, {"content-type": "text/html"}).end(room === "" ? PAGE : "");
    });
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    return new ClientPages(server);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
  }
}

function writePaths(module: string): string {
  return Object.entries(PACKAGES).reduce(
    (text, [name, path]) => text.replaceAll(`from "${name}`, `from "/bundled/${path}`),
    module,
  );
}
