export default {
  issuer: "Log in with your company account",
  or: "or with an API key",
  key: "API key",
  keyHelp: "It begins with horae_. It is exchanged for a session and is not stored in this browser.",
  enter: "Log in",
  entering: "Logging in…",
  need: "Enter an API key.",
  noKey: "No key yet? An admin can create one. The first key is created on the server:",
};
