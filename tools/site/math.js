// Reads [[formula, is a display], ...] from standard input, writes their MathML. Needs KaTeX of Debian (libjs-katex, node-katex).
"use strict";
const katex = require("/usr/share/nodejs/katex");
const formulas = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(formulas.map(
  ([text, display]) => katex.renderToString(text, {output: "mathml", displayMode: display, throwOnError: true}))));
