// The rules for all JavaScript in the repository: eslint --config crates/inspector/eslint.config.mjs

import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/node_modules/", "**/target/", "**/.venv/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      curly: ["error", "multi-line"],
      "default-case-last": "error",
      eqeqeq: "error",
      // For comments and strings, which the formatter does not break.
      "max-len": ["error", { code: 120 }],
      "no-else-return": "error",
      "no-implicit-coercion": "error",
      "no-lonely-if": "error",
      "no-self-compare": "error",
      "no-shadow": "error",
      "no-template-curly-in-string": "error",
      "no-unneeded-ternary": "error",
      "no-unreachable-loop": "error",
      "no-unused-expressions": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      "no-useless-return": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
    },
  },
  { files: ["crates/inspector/page/**"], languageOptions: { globals: globals.browser } },
  { files: ["**/*.mjs"], languageOptions: { globals: globals.node } },
  // Functions that these files pass to the browser run there.
  {
    files: ["crates/inspector/page-tests/**", "interop/browser/**"],
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
  },
];
