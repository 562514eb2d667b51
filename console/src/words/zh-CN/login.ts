export default {
  issuer: "使用公司账户登录",
  or: "或使用 API 密钥",
  key: "API 密钥",
  keyHelp: "以 horae_ 开头。它只用来换取会话，不会保存在浏览器中。",
  enter: "登录",
  entering: "登录中…",
  need: "请输入 API 密钥。",
  noKey: "还没有密钥？请管理员创建；第一个密钥在服务器上创建：",
};
