import { type ThemeConfig, theme } from "antd";

/** Colours with enough contrast for a dark room, and no motion. */
const shared: ThemeConfig["token"] = {
  motion: false,
  borderRadius: 4,
  fontSize: 14,
  fontFamily:
    "system-ui, -apple-system, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif",
  fontFamilyCode: "ui-monospace, 'SF Mono', Menlo, Consolas, 'Noto Sans Mono', monospace",
  wireframe: false,
};

export const light: ThemeConfig = {
  algorithm: theme.defaultAlgorithm,
  token: {
    ...shared,
    colorPrimary: "#2b6595",
    colorLink: "#235a87",
    colorError: "#b3362f",
    colorWarning: "#8f5a00",
    colorSuccess: "#2f7045",
    colorText: "#1f2933",
    colorTextSecondary: "#4a5560",
    colorTextTertiary: "#5b6670",
    colorTextQuaternary: "#6b7680",
    colorTextPlaceholder: "#6b7680",
    colorTextDescription: "#56616b",
    colorTextDisabled: "#68727c",
    colorBgLayout: "#f5f6f7",
    colorBorder: "#c3cad1",
    colorBorderSecondary: "#e1e5e9",
    controlItemBgActive: "#e4eef6",
    controlItemBgActiveHover: "#e4eef6",
  },
};

export const dark: ThemeConfig = {
  algorithm: theme.darkAlgorithm,
  // colours that are bright enough for text are too bright for white text on them
  components: { Button: { primaryColor: "#0f1b26", dangerColor: "#1d0f0e" } },
  token: {
    ...shared,
    colorPrimary: "#8cc0ef",
    colorLink: "#86b7e3",
    colorError: "#e5807a",
    colorWarning: "#d9a441",
    colorSuccess: "#7dbb8f",
    colorText: "#dfe4e8",
    colorTextSecondary: "#b4bcc4",
    colorTextTertiary: "#a3acb5",
    colorTextQuaternary: "#96a0aa",
    colorTextPlaceholder: "#96a0aa",
    colorTextDescription: "#a9b2bb",
    colorTextDisabled: "#939da7",
    colorBgBase: "#15191d",
    colorBgLayout: "#15191d",
    colorBgContainer: "#1c2126",
    colorBgElevated: "#23292f",
    colorBorder: "#46505a",
    colorBorderSecondary: "#2e363d",
    controlItemBgActive: "#1d2b38",
    controlItemBgActiveHover: "#1d2b38",
  },
};
