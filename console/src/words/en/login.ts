export default {
  issuer: "Log in with your company account",
  or: "or with an API key",
  key: "API key",
  keyHelp: "It begins with horae_. It is exchanged for a session and kept nowhere in this browser.",
  enter: "Log in",
  entering: "Logging in…",
  need: "Paste an API key.",
  noKey: "No key yet? An admin makes one, or the first one is made on the server:",
};
