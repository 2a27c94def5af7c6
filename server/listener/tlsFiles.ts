/** The certificate and the key of --tls-cert and --tls-key. Both are read again when one changes. */
import {readFileSync, unwatchFile, watchFile} from "node:fs";
import {createSecureContext} from "node:tls";
import type {Logger} from "pino";

/** Files are looked at so often. Looking, unlike watching, also finds files behind links that are replaced. */
const LOOK_MS = 1000;

interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export class TlsFiles {
  private readAgain: (() => void) | undefined;

  constructor(
    private readonly certPath: string,
    private readonly keyPath: string,
    private readonly log: Logger,
  ) {}

  /** @throws Error if a file cannot be read, or they do not belong together */
  read(): TlsPair {
    try {
      const pair = {cert: readFileSync(this.certPath), key: readFileSync(this.keyPath)};
      createSecureContext(pair);
      return pair;
    } catch (error) {
      throw new Error(
        `expected a certificate and its key in PEM in --tls-cert and --tls-key: ${(error as Error).message}`,
      );
    }
  }

  /** @param take - gets each new pair that can be used. New connections have it */
  watch(take: (pair: TlsPair) => void): void {
    this.readAgain = () => {
      try {
        take(this.read());
        this.log.info("new connections use the new TLS certificate");
      } catch (error) {
        // The other file may not have changed yet.
        this.log.warn(
          {err: error},
          "the TLS files have changed and cannot be used; those before stay in use",
        );
      }
    };
    for (const path of [this.certPath, this.keyPath])
      watchFile(path, {interval: LOOK_MS, persistent: false}, this.readAgain);
  }

  unwatch(): void {
    for (const path of [this.certPath, this.keyPath]) unwatchFile(path, this.readAgain);
  }
}
