// Unpacks the Chromium that the npm package @sparticuz/chromium carries, with the libraries it needs.
import { createReadStream, createWriteStream, mkdirSync, chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { execFileSync } from "node:child_process";

const [packageFolder, target] = process.argv.slice(2);
mkdirSync(join(target, "lib"), { recursive: true });

async function unpack(name, to) {
  await pipeline(createReadStream(join(packageFolder, "bin", name)), createBrotliDecompress(), createWriteStream(to));
}

const program = join(target, "chromium");
await unpack("chromium.br", program);
chmodSync(program, 0o755);
for (const name of ["al2023.tar.br", "swiftshader.tar.br", "fonts.tar.br"]) {
  const archive = join(target, name.replace(".br", ""));
  await unpack(name, archive);
  execFileSync("tar", ["-xf", archive, "-C", target]);
  rmSync(archive);
}
// Its own file names folders of another system.
writeFileSync(join(target, "fonts.conf"), `<?xml version="1.0"?>
<fontconfig><dir>${join(target, "fonts")}</dir><cachedir>${join(target, "font-cache")}</cachedir></fontconfig>
`);
